package io.journalq.server.security.sasl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.metadata.security.ScramImage;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class PasswordCheckTest {
    private final byte[] password = "secret".getBytes(StandardCharsets.UTF_8);

    private static PasswordCheck check(Executor passwords) {
        return new PasswordCheck(new ScramUsers(() -> ScramImage.NONE, new byte[32]), passwords, new byte[32]);
    }

    @Test
    void shouldOverwriteThePasswordWhenTooManyChecksWait() {
        PasswordCheck full = check(work -> {
            throw new RejectedExecutionException("full");
        });

        assertThatThrownBy(() -> full.check("ann", password)).isInstanceOf(RejectedExecutionException.class);
        assertThat(password).containsOnly(0);
    }

    @Test
    void shouldOverwriteThePasswordOfANameThatNoUserCanHave() {
        assertThat(check(Runnable::run).check("", password)).isCompletedWithValue(false);
        assertThat(password).containsOnly(0);
    }

    @Test
    void shouldOverwriteThePasswordThatWasChecked() {
        assertThat(check(Runnable::run).check("ann", password)).isCompletedWithValue(false);
        assertThat(password).containsOnly(0);
    }
}
