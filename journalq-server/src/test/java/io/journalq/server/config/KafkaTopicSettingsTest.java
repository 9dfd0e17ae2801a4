package io.journalq.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.junit.jupiter.api.Test;

/** Compares Kafka's topic settings, as listed by Kafka's own classes, with ours. */
class KafkaTopicSettingsTest {
    private static final Path GAPS = Path.of("..", "docs", "protocol-gaps.md");

    /** Values at and around the ends of every range, and values of the wrong type. */
    private static final List<String> SAMPLES = List.of(
            "",
            "0",
            "1",
            "-1",
            "-2",
            "-3",
            "3",
            "4",
            "9",
            "10",
            "17",
            "18",
            "22",
            "23",
            "1.5",
            "abc",
            "yes",
            "-131072",
            "-131073",
            "2147483647",
            "2147483648",
            "9223372036854775807",
            "9223372036854775808",
            "true",
            "false",
            "TRUE",
            "*",
            "*,0:1",
            "0:1",
            "0:1,1:1",
            "0:1,1",
            "a:b");

    @Test
    void shouldKnowEverySettingOfKafkasTopics() {
        assertThat(LogConfig.configNames())
                .allSatisfy(name -> assertThat(keyOf(name)).as(name).isNotNull());
    }

    @Test
    void shouldAcceptWhatKafkaAcceptsOfSettingsThatKafkaAloneNeeds() {
        List<String> names = new ArrayList<>(List.of(
                "flush.ms", "flush.messages", "file.delete.delay.ms", "segment.index.bytes", "segment.jitter.ms"));
        TopicSettings.WITHOUT_EFFECT.all().forEach(key -> names.add(key.name()));
        for (String name : names) {
            for (String sample : SAMPLES) {
                assertThat(acceptsHere(name, sample))
                        .as("%s=%s", name, sample)
                        .isEqualTo(acceptedByKafka(name, sample));
            }
        }
    }

    @Test
    void shouldHaveKafkasTypesAndDefaultsOfSettingsWithoutEffect() {
        for (ConfigKey<?> key : TopicSettings.WITHOUT_EFFECT.all()) {
            ConfigDef.ConfigKey kafkas = LogConfig.configKeys().get(key.name());

            assertThat(key.type().name()).as(key.name()).isEqualTo(kafkas.type.name());
            assertThat(key.format(key.defaultValue()))
                    .as(key.name())
                    .isEqualTo(ConfigDef.convertToString(kafkas.defaultValue, kafkas.type));
            assertThat(key.documentation()).as(key.name()).contains("without effect");
        }
    }

    @Test
    void shouldNameEverySettingWithoutEffectInTheDocument() throws IOException {
        String document = Files.readString(GAPS);

        assertThat(TopicSettings.WITHOUT_EFFECT.all())
                .allSatisfy(key -> assertThat(document).contains("`" + key.name() + "`"));
    }

    @Test
    void shouldKnowTheDefaultsOfTopicsUnderTheNamesThatKafkasBrokersHave() {
        for (Map.Entry<String, List<ConfigSynonym>> synonyms :
                ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.entrySet()) {
            String ours = keyOf(synonyms.getKey()).name();
            for (ConfigSynonym synonym : synonyms.getValue()) {
                assertThat(KafkaNames.OF_BROKERS.ourName(synonym.name())).isEqualTo(ours);
                assertThat(BrokerSettings.DYNAMIC.find(ours)).as(synonym.name()).isNotNull();
            }
        }
    }

    @Test
    void shouldConvertKafkasUnits() throws ConfigException {
        assertThat(KafkaNames.OF_BROKERS.ourText("log.retention.hours", "168")).isEqualTo("604800000");
        assertThat(KafkaNames.OF_BROKERS.ourText("log.retention.minutes", "-1")).isEqualTo("-1");
        assertThat(KafkaNames.OF_BROKERS.ourText("log.retention.ms", "5")).isEqualTo("5");
        assertThatThrownBy(() -> KafkaNames.OF_BROKERS.ourText("log.retention.hours", "7d"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("log.retention.hours");
        assertThatThrownBy(() -> KafkaNames.OF_BROKERS.ourText("log.roll.hours", "9223372036854775807"))
                .isInstanceOf(ConfigException.class);

        List<KafkaNames.Name> names = KafkaNames.OF_BROKERS.shownOf(TopicSettings.RETENTION_MS);
        assertThat(names)
                .extracting(KafkaNames.Name::name)
                .containsExactly("log.retention.ms", "log.retention.minutes", "log.retention.hours");
        assertThat(names).extracting(name -> name.kafkaText("7200000")).containsExactly("7200000", "120", "2");
        assertThat(names).extracting(name -> name.kafkaText("60000")).containsExactly("60000", "1", null);
        assertThat(names).extracting(name -> name.kafkaText("-1")).containsOnly("-1");
    }

    @Test
    void shouldNameOurSettingWhenTheFileHoldsKafkasName() {
        assertThatThrownBy(() -> BrokerConfigLoader.load(null, Map.of(), List.of("message.max.bytes=1000")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("Kafka's name for 'max.message.bytes'");
    }

    private static ConfigKey<?> keyOf(String kafkasName) {
        return TopicSettings.ALL.find(KafkaNames.OF_TOPICS.ourName(kafkasName));
    }

    private static boolean acceptsHere(String name, String value) {
        try {
            TopicConfig.check(KafkaNames.OF_TOPICS.ourName(name), KafkaNames.OF_TOPICS.ourText(name, value));
            return true;
        } catch (ConfigException refused) {
            return false;
        }
    }

    private static boolean acceptedByKafka(String name, String value) {
        ConfigDef.ConfigKey key = LogConfig.configKeys().get(name);
        try {
            Object parsed = ConfigDef.parseType(name, value, key.type);
            if (key.validator != null) {
                key.validator.ensureValid(name, parsed);
            }
            return true;
        } catch (org.apache.kafka.common.config.ConfigException refused) {
            return false;
        }
    }
}
