"""Estimator: counts the tests, publishes the estimate after each and the result at the end."""

from __future__ import annotations

import sys
from pathlib import Path

from repsq_ros import messages, topics
from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import CampaignFolder
from repsq_ros.msg import Estimate, QuantizedResult, TestMeasurement
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.runtime import CampaignNode, run_node


class Estimator(CampaignNode):
    """Folds TestMeasurement messages of one campaign."""

    def __init__(self) -> None:
        super().__init__('estimator')
        parameters = Parameters(self)
        self._specification = specification = parameters.specification()
        self._campaign_id = parameters.text(
            'campaign_id', '', 'campaign to be counted; empty: the first one heard of'
        )
        output = parameters.text('output', '', 'folder for tests.csv and result.yaml; empty: none')
        parameters.finish()
        self._folder = CampaignFolder(Path(output).expanduser(), specification) if output else None
        self._campaign = Campaign(specification)
        self._estimates = self.create_publisher(Estimate, topics.ESTIMATE, qos.WATCHED_RECORD)
        self._results = self.create_publisher(
            QuantizedResult, topics.QUANTIZED_RESULT, qos.LATCHED
        )
        self.create_subscription(TestMeasurement, topics.TEST_MEASUREMENT, self._hear, qos.RECORD)

    def _hear(self, message: TestMeasurement) -> None:
        if message.specification_digest != self._specification.digest:
            self.get_logger().error(
                f'test {message.index} not counted: its specification digest is '
                f'{message.specification_digest[:12]}, expected '
                f'{self._specification.digest[:12]} of {self._specification.file}'
            )
            return
        if not self._campaign_id:
            self._campaign_id = message.campaign_id
        if message.campaign_id != self._campaign_id:
            self.get_logger().error(
                f'test {message.index} not counted: it belongs to campaign '
                f'{message.campaign_id!r}, not to {self._campaign_id!r}'
            )
            return
        record = messages.test_record_of(message)
        estimate = self._campaign.add(record)
        if estimate is None:
            self.get_logger().warning(
                f'test {record.index}, attempt {record.attempt}: not counted, it was counted '
                'before or is not due yet'
            )
            return
        if self._folder is not None:
            self._folder.add(record, estimate)
        self._estimates.publish(
            translate.estimate_of(estimate, self._campaign_id, message.header.stamp)
        )
        if estimate.stopped:
            self._finish(message)

    def _finish(self, message: TestMeasurement) -> None:
        result = self._campaign.result(self._campaign_id)
        self._results.publish(translate.quantized_result_of(result, message.header.stamp))
        self.get_logger().info(f'result {result.value!r} (estimate {result.estimate!r})')
        if self._folder is not None:
            path = self._folder.finish(result)
            self.get_logger().info(f'result written to {path}')

    def shut_down(self, reason: str) -> None:
        """Close the files."""
        if self._folder is not None:
            self._folder.close()


def main() -> int:
    """Run the estimator."""
    return run_node('estimator', Estimator)


if __name__ == '__main__':
    sys.exit(main())
