package io.journalq.server.shard.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.shard.append.DeliveryMode;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PartitionSettingsTest {
    @Test
    void shouldAcknowledgeWhenSyncedIfEveryMessageIsToBeFlushed() {
        assertThat(of(Map.of("flush.messages", "1")).append().deliveryMode()).isEqualTo(DeliveryMode.CONSISTENT);
        assertThat(of(Map.of("flush.messages", "1", "delivery.mode", "performance"))
                        .append()
                        .deliveryMode())
                .isEqualTo(DeliveryMode.CONSISTENT);
        assertThat(of(Map.of("flush.messages", "2")).append().deliveryMode()).isEqualTo(DeliveryMode.EVENTUAL);
    }

    @Test
    void shouldKeepTheFlushIntervalWithinWhatCanBeScheduled() {
        assertThat(of(Map.of("flush.interval.ms", "0")).flushIntervalMs()).isEqualTo(1);
        assertThat(of(Map.of("flush.interval.ms", "2500")).flushIntervalMs()).isEqualTo(2_500);
        assertThat(of(Map.of("flush.interval.ms", "9223372036854775807")).flushIntervalMs())
                .isEqualTo(604_800_000L);
    }

    @Test
    void shouldNotCompressWhatIsSealed() {
        PartitionSettings sealed = of(Map.of("encryption.required", "true", "compression.type", "gzip"));

        assertThat(sealed.append().compression()).isNull();
        assertThat(sealed.append().rules().sealRequired()).isTrue();
        assertThat(sealed.ofInternalTopic().append().rules().sealRequired()).isFalse();
        assertThat(of(Map.of("compression.type", "gzip")).append().compression())
                .isEqualTo(CompressionCodec.GZIP);
    }

    private static PartitionSettings of(Map<String, String> configs) {
        return PartitionSettings.of(TopicConfig.of(BrokerConfig.defaults(), configs));
    }
}
