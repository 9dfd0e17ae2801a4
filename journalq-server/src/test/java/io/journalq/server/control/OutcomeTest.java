package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The outcome of operations that fail. */
class OutcomeTest {
    @Test
    void shouldSayWhyNothingIsDecidedHereAlsoWithATimeout() {
        // given an operation that a handler waits for with a timeout
        CompletableFuture<Void> operation = new CompletableFuture<>();
        CompletableFuture<Outcome> outcome = operation.copy().handle((done, failure) -> Outcome.of(failure));

        // when
        operation.completeExceptionally(new NotControllerException("another broker is the controller"));

        // then
        assertThat(outcome.join())
                .isEqualTo(new Outcome(ErrorCode.NOT_CONTROLLER, "another broker is the controller", null));
    }
}
