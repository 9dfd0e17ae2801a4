package io.journalq.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TopicConfigTest {
    @Test
    void shouldPreferTheTopicsValueToTheBrokers() throws Exception {
        BrokerConfig broker = BrokerConfigLoader.load(null, Map.of(), List.of("retention.ms=1h", "segment.bytes=1MiB"));

        TopicConfig config = TopicConfig.of(broker, Map.of("retention.ms", "60000"));

        assertThat(config.get(TopicSettings.RETENTION_MS)).isEqualTo(60_000L);
        assertThat(config.get(TopicSettings.SEGMENT_BYTES)).isEqualTo(1 << 20);
        assertThat(config.get(TopicSettings.DELIVERY_MODE)).isEqualTo("eventual");
    }

    @Test
    void shouldUseTheBrokersValueWhenAnotherReleaseWroteOneThatIsUnknownHere() {
        TopicConfig config = TopicConfig.of(
                BrokerConfig.defaults(), Map.of("cleanup.policy", "freeze", "colour", "blue", "retention.ms", "1"));

        assertThat(config.get(TopicSettings.CLEANUP_POLICY)).containsExactly("delete");
        assertThat(config.get(TopicSettings.RETENTION_MS)).isEqualTo(1L);
    }

    @Test
    void shouldRefuseWhatWouldLoseDataUnnoticed() {
        assertThatThrownBy(() -> TopicConfig.check("cleanup.policy", "compact,freeze"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("must be one of compact, delete");
        assertThatThrownBy(() -> TopicConfig.check("min.insync.replicas", "0"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("must be");
    }

    @Test
    void shouldNameTheNearestSettingWhenATopicHasNoSuchOne() {
        assertThatThrownBy(() -> TopicConfig.check("retention.millis", "1"))
                .hasMessageContaining("did you mean 'retention.ms'?");
        assertThatThrownBy(() -> TopicConfig.check("listeners", "PLAINTEXT://:1"))
                .hasMessageContaining("Unknown setting");
    }

    @Test
    void shouldKeepEveryDefaultWithinItsOwnRange() throws Exception {
        for (ConfigKey<?> key : TopicSettings.ALL.all()) {
            TopicConfig.check(key.name(), key.format(key.defaultValue()));
            assertThat(key.documentation()).as(key.name()).endsWith(".");
        }
    }

    /** Commands show values with a unit by the suffix of the name: the protocol does not report units. */
    @Test
    void shouldEndInItsUnitWhenASettingHasOne() {
        Map<ConfigUnit, String> suffixes = Map.of(ConfigUnit.MILLISECONDS, ".ms", ConfigUnit.BYTES, ".bytes");
        List<ConfigKey<?>> keys = new ArrayList<>(BrokerSettings.ALL.all());
        keys.addAll(TopicSettings.ALL.all());
        keys.addAll(GroupSettings.ALL.all());
        keys.addAll(ClientMetricsSettings.ALL.all());
        // Their names are Kafka's.
        keys.remove(BrokerSettings.ALL.find("log.cleaner.dedupe.buffer.size"));
        keys.remove(ReplicationSettings.LEADER_THROTTLED_RATE);
        keys.remove(ReplicationSettings.FOLLOWER_THROTTLED_RATE);
        // A rate. Its name has the unit in front of the time.
        keys.remove(BrokerSettings.SCRUB_BYTES_PER_SECOND);

        assertThat(keys)
                .allSatisfy(key -> suffixes.forEach((unit, suffix) ->
                        assertThat(key.name().endsWith(suffix)).as(key.name()).isEqualTo(key.unit() == unit)));
    }

    @Test
    void shouldRefuseNumbersThatDoNotFit() {
        for (String number : List.of("", " ", "-2", "1e3", "9223372036854775808", "9999999999999TiB", "1 KB", "0x10")) {
            assertThatThrownBy(() -> TopicConfig.check("retention.bytes", number))
                    .as("'%s'", number)
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("retention.bytes");
        }
    }

    @Test
    void shouldRefuseATextOfUnreasonableLength() {
        assertThatThrownBy(() -> TopicConfig.check("retention.ms", "1".repeat(ConfigKey.MAX_VALUE_LENGTH + 1)))
                .isInstanceOf(ConfigException.class)
                .satisfies(wrong -> assertThat(wrong.getMessage().length()).isLessThan(200));
    }
}
