# Copyright 2026 repsq_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Estimator: counts the tests, publishes the estimate after each and the result at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from builtin_interfaces.msg import Time
from rclpy.executors import SingleThreadedExecutor

from repsq_ros import topics
from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.contract import check_contract
from repsq_ros.campaign.folder import CampaignFolder
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import JournalContents, read_contents
from repsq_ros.campaign.records import CountedAttempt, TestRecord
from repsq_ros.campaign.result_text import result_text
from repsq_ros.messages import campaign_messages
from repsq_ros.msg import CountedTest, Estimate, QuantizedResult, TestMeasurement
from repsq_ros.nodes import qos, translate
from repsq_ros.nodes.deferred_messages import DeferredMessages
from repsq_ros.nodes.heartbeat import HeartbeatPublisher
from repsq_ros.nodes.parameters import Parameters
from repsq_ros.nodes.runtime import CampaignNode, run_node
from repsq_ros.nodes.self_diagnosis import SelfDiagnosis
from repsq_ros.nodes.watches.publishers import PublisherCheck
from repsq_ros.views.health import estimator_health

MOMENT = 0.02  # [s] of counting between two heartbeats


class Estimator(CampaignNode):
    """Folds TestMeasurement messages of one campaign."""

    def __init__(self) -> None:
        super().__init__('estimator')
        parameters = Parameters(self)
        self._specification = specification = parameters.specification()
        self._campaign_id = parameters.text(
            'campaign_id', '', 'campaign to be counted; empty: the first one heard of'
        )
        output = parameters.folder('output', 'folder for tests.csv and result.yaml; empty: none')
        parameters.finish()
        specification.tester.proposal.load()
        self._campaign = Campaign(specification)
        contents = self._contents(output)
        self._folder = None
        if output is not None:
            self._folder = CampaignFolder(output, specification, contents is not None)
        self._estimates = self.create_publisher(Estimate, topics.ESTIMATE, qos.RECORD)
        self._counted = self.create_publisher(CountedTest, topics.COUNTED_TEST, qos.WHOLE)
        self._results = self.create_publisher(
            QuantizedResult, topics.QUANTIZED_RESULT, qos.LATCHED
        )
        self._refused = 0  # number of measurements that were not counted
        SelfDiagnosis(self, lambda: estimator_health(self._campaign.latest, self._refused))
        self._heartbeat = HeartbeatPublisher(self, 'estimator')
        # tests of the journal; None: all are counted
        self._uncounted: Iterator[TestRecord] | None = None
        if contents is None:
            self._listen()
        else:
            self._campaign_id = contents.campaign_id
            self._uncounted = iter(contents.tests)
            self._of_journal = len(contents.tests)

    def _listen(self) -> None:
        """Subscribe to measurements."""
        publishers = PublisherCheck(self, {topics.TEST_MEASUREMENT: ('measurement',)})
        deferred = DeferredMessages(self, publishers, topics.TEST_MEASUREMENT, self._on_message)
        self.create_subscription(
            TestMeasurement, topics.TEST_MEASUREMENT, deferred.take, qos.RECORD
        )
        self._heartbeat.set_status(True, '')

    def work(self, executor: SingleThreadedExecutor) -> None:
        """Count a long journal in parts, so that heartbeats continue."""
        if self._uncounted is None:
            super().work(executor)
            return
        self._catch_up(self._uncounted)
        executor.spin_once(timeout_sec=0)

    def _contents(self, folder: Path | None) -> JournalContents | None:
        """Return the contents of the folder's journal, if there is one."""
        if folder is None or not (folder / JOURNAL).exists():
            return None
        file = folder / JOURNAL
        contents = read_contents(file)
        if contents is not None:
            check_contract(contents, file, self._specification)
        return contents

    def _catch_up(self, tests: Iterator[TestRecord]) -> None:
        """Count tests of the journal for a moment; after the last one, publish the state."""
        campaign, until = self._campaign, time.monotonic() + MOMENT
        campaign.forecasts = False
        for record in tests:
            estimate = campaign.add(record)
            if estimate is None:
                continue
            if self._folder is not None:
                self._folder.add(record, estimate, sync=False)
            self._publish_counted(CountedAttempt(record, estimate), Time())
            if time.monotonic() > until:
                counted = estimate.n + estimate.invalid + estimate.broken_off + estimate.skipped
                self._heartbeat.set_status(
                    False, f'its count of {counted} of {self._of_journal} tests'
                )
                return
        campaign.forecasts, self._uncounted = True, None
        if self._folder is not None:
            self._folder.sync()
        latest = campaign.latest
        if latest is not None:
            self.get_logger().info(f'{self._of_journal} tests counted from the journal')
            self._estimates.publish(translate.estimate_of(latest, self._campaign_id, Time()))
            if latest.stopped:
                self._finish(Time())
        self._listen()

    def _on_message(self, message: TestMeasurement) -> None:
        if message.specification_digest != self._specification.digest:
            self._refused += 1
            self.get_logger().error(
                f'test {message.index} not counted: its specification digest is '
                f'{message.specification_digest[:12]}, expected '
                f'{self._specification.digest[:12]} of {self._specification.file}'
            )
            return
        if not self._campaign_id:
            self._campaign_id = message.campaign_id
        if message.campaign_id != self._campaign_id:
            self._refused += 1
            self.get_logger().error(
                f'test {message.index} not counted: it belongs to campaign '
                f'{message.campaign_id!r}, not to {self._campaign_id!r}'
            )
            return
        record = campaign_messages.test_record_of(message)
        self._heartbeat.beat()
        estimate = self._campaign.add(record)
        if estimate is None:
            latest = self._campaign.latest
            if latest and (latest.index, latest.attempt) == (record.index, record.attempt):
                # A restarted scheduler asks again, since it missed the answer.
                self._estimates.publish(
                    translate.estimate_of(latest, self._campaign_id, message.header.stamp)
                )
                return
            self.get_logger().warning(
                f'test {record.index}, attempt {record.attempt}: not counted, it was counted '
                'before or is not due yet'
            )
            return
        if self._folder is not None:
            self._folder.add(record, estimate)
        if estimate.question:
            self.get_logger().error(estimate.question)
        self._estimates.publish(
            translate.estimate_of(estimate, self._campaign_id, message.header.stamp)
        )
        self._publish_counted(CountedAttempt(record, estimate), message.header.stamp)
        if estimate.stopped:
            self._finish(message.header.stamp)

    def _publish_counted(self, counted: CountedAttempt, stamp: Time) -> None:
        """Publish a counted attempt, and keep it for late joiners."""
        self._counted.publish(
            translate.counted_test_of(counted, self._specification, self._campaign_id, stamp)
        )

    def _finish(self, stamp: Time) -> None:
        self._heartbeat.beat()
        result = self._campaign.result(self._campaign_id)
        self._results.publish(translate.quantized_result_of(result, stamp))
        for line in result_text(result).splitlines():
            self.get_logger().info(line)
        if self._folder is not None:
            self._heartbeat.beat()
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
