package io.journalq.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.KafkaMessages.Oracle;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.types.Schema;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Every message in every version against kafka-clients: what it writes we read, and what we write is the same to the
 * byte. A failure names the seed; {@code -Djournalq.seed=N} runs that one alone.
 */
class MessageConformanceTest {
    private static final int SEEDS = 25;
    private static final int SEEDS_ACROSS_VERSIONS = 4;

    private interface Check {
        void run(Oracle oracle, short version, long seed);
    }

    @TestFactory
    List<DynamicTest> shouldWriteTheSameBytesWhenAMessageOfKafkaWasRead() {
        return forEveryMessage(SEEDS, (oracle, version, seed) -> {
            // given: what kafka-clients writes, tagged fields that hold their default left out
            byte[] random =
                    new RandomMessages(seed, false).encode(oracle.schemas().get(version));
            org.apache.kafka.common.protocol.Message theirs = oracle.readTheirs(random, version);
            byte[] expected = oracle.writeTheirs(theirs, version);

            // when
            Message ours = oracle.readOurs(expected, version);
            byte[] written = oracle.writeOurs(ours, version);

            // then
            assertThat(written).isEqualTo(expected);
            assertThat(oracle.readTheirs(written, version)).isEqualTo(theirs);
            Message again = oracle.readOurs(expected, version);
            assertThat(again).isEqualTo(ours).hasSameHashCodeAs(ours);
            assertThat(again.toString()).isNotEmpty();
        });
    }

    @TestFactory
    List<DynamicTest> shouldReadTheSameMessageWhenItHasUnknownTags() {
        return forEveryMessage(SEEDS, (oracle, version, seed) -> {
            // given
            Schema schema = oracle.schemas().get(version);
            byte[] plain = new RandomMessages(seed, false).encode(schema);
            byte[] withUnknownTags = new RandomMessages(seed, true).encode(schema);

            // when
            Message read = oracle.readOurs(withUnknownTags, version);

            // then
            assertThat(read).isEqualTo(oracle.readOurs(plain, version));
        });
    }

    @TestFactory
    List<DynamicTest> shouldWriteOrRefuseAsKafkaDoesWhenAMessageOfAnotherVersionIsWritten() {
        return forEveryMessage(SEEDS_ACROSS_VERSIONS, (oracle, version, seed) -> {
            // given
            byte[] random =
                    new RandomMessages(seed, false).encode(oracle.schemas().get(version));
            for (short target = oracle.lowestVersion(); target <= oracle.highestVersion(); target++) {
                // when
                byte[] expected = theirsOrNull(oracle, random, version, target);
                byte[] written = oursOrNull(oracle, random, version, target);

                // then
                assertThat(written).as("written at version %d", target).isEqualTo(expected);
            }
        });
    }

    @TestFactory
    List<DynamicTest> shouldHaveTheSameDefaultsWhenNothingIsSet() {
        return forEveryMessage(1, (oracle, version, seed) -> {
            // given
            byte[] expected;
            try {
                expected = oracle.writeTheirs(oracle.emptyTheirs(), version);
            } catch (NullPointerException e) {
                // Theirs has no default for records that may not be null; ours has none to send.
                return;
            }

            // when
            byte[] written = oracle.writeOurs(oracle.emptyOurs(), version);

            // then
            assertThat(written).isEqualTo(expected);
        });
    }

    @Test
    void shouldKnowTheSameApisWhenComparedWithKafka() {
        for (ApiMessageType type : KafkaMessages.apis()) {
            ApiKey key = ApiKey.of(type.apiKey());

            assertThat(key).as(type.name()).isNotNull();
            assertThat(key.name()).isEqualTo(type.name());
            assertThat(key.apiName()).isEqualTo(type.name);
            assertThat(key.lowestVersion()).isEqualTo(type.lowestSupportedVersion());
            assertThat(key.highestVersion()).isEqualTo(type.highestSupportedVersion(true));
            assertThat(key.latestVersionUnstable()).isEqualTo(type.latestVersionUnstable());
            for (short version = key.lowestVersion(); version <= key.highestVersion(); version++) {
                assertThat(key.requestHeaderVersion(version)).isEqualTo(type.requestHeaderVersion(version));
                assertThat(key.responseHeaderVersion(version)).isEqualTo(type.responseHeaderVersion(version));
            }
        }
        assertThat(ApiKey.values())
                .as("the APIs of Kafka, and one of JournalQ")
                .hasSize(KafkaMessages.apis().size() + 1)
                .contains(ApiKey.READ_REPLICA);
    }

    private static List<DynamicTest> forEveryMessage(int seeds, Check check) {
        return KafkaMessages.all().stream()
                .map(oracle -> DynamicTest.dynamicTest(oracle.name(), () -> {
                    for (short version = oracle.lowestVersion(); version <= oracle.highestVersion(); version++) {
                        for (long seed : RandomMessages.seeds(seeds)) {
                            runNamed(check, oracle, version, seed);
                        }
                    }
                }))
                .toList();
    }

    private static void runNamed(Check check, Oracle oracle, short version, long seed) {
        try {
            check.run(oracle, version, seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("%s version %d seed %d".formatted(oracle.name(), version, seed), e);
        }
    }

    private static byte[] theirsOrNull(Oracle oracle, byte[] bytes, short version, short target) {
        try {
            return oracle.writeTheirs(oracle.readTheirs(bytes, version), target);
        } catch (org.apache.kafka.common.errors.UnsupportedVersionException | NullPointerException e) {
            return null;
        }
    }

    private static byte[] oursOrNull(Oracle oracle, byte[] bytes, short version, short target) {
        try {
            return oracle.writeOurs(oracle.readOurs(Arrays.copyOf(bytes, bytes.length), version), target);
        } catch (UnsupportedVersionException e) {
            return null;
        }
    }
}
