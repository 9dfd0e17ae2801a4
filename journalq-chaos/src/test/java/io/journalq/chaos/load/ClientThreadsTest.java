package io.journalq.chaos.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientThreadsTest {
    @ParameterizedTest
    @ValueSource(classes = {IOException.class, IllegalStateException.class, ExceptionInInitializerError.class})
    void shouldReportWhatEndsAClient(Class<? extends Throwable> kind) {
        Ledger ledger = new Ledger();

        try (ClientThreads load = new ClientThreads(ledger, "localhost:1", 1, LoadClients.REQUEST_TIMEOUT)) {
            load.begin("consumer", () -> fail(kind));
        }

        assertThat(ledger.findings()).singleElement().asString().startsWith("consumer failed: " + kind.getName());
    }

    private static void fail(Class<? extends Throwable> kind) throws Exception {
        Throwable failure = kind.getConstructor().newInstance();
        if (failure instanceof Error error) {
            throw error;
        }
        throw (Exception) failure;
    }
}
