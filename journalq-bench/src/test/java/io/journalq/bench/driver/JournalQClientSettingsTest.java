package io.journalq.bench.driver;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JournalQClientSettingsTest {
    @ParameterizedTest
    @CsvSource({
        "acks, all",
        "idempotent, true",
        "batchSizeBytes, 1000",
        "lingerMs, 5",
        "bufferMemoryBytes, 5000000000",
        "maxRequestSizeBytes, 70000",
        "deliveryTimeoutMs, 1000",
        "requestTimeoutMs, 1000"
    })
    void shouldTakeEverySettingOfTheProducer(String name, String value) {
        assertThatCode(() -> JournalQClientSettings.apply(Producer.builder(), name, value))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"fetchMaxWaitMs, 5", "fetchMinBytes, 5", "fetchMaxBytes, 5", "partitionMaxBytes, 5", "checkCrc, false"})
    void shouldTakeEverySettingOfTheConsumer(String name, String value) {
        assertThatCode(() -> JournalQClientSettings.apply(Consumer.builder(), name, value))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldSayWhatThereIsWhenASettingIsUnknownOrWrong() {
        assertThatThrownBy(() -> JournalQClientSettings.apply(Producer.builder(), "linger.ms", "5"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("lingerMs");
        assertThatThrownBy(() -> JournalQClientSettings.apply(Producer.builder(), "lingerMs", "soon"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("lingerMs cannot be 'soon'");
        assertThatThrownBy(() -> JournalQClientSettings.apply(Consumer.builder(), "acks", "all"))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("fetchMinBytes");
    }
}
