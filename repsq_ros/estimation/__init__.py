"""From weighted outcomes to a quantized result: accumulation, stopping, partition, agreement."""
