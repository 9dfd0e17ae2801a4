package io.journalq.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.quorum.QuorumConfig.LogSizes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Ratis must not end the process. Changes the handler of all threads, so nothing may run at the same time. */
@Isolated
class ProcessExitTest {
    @TempDir
    Path directory;

    @Test
    void shouldReportTheFailureAndKeepTheProcessWhenThePortIsInUse() throws Exception {
        Thread.UncaughtExceptionHandler handler = (thread, failure) -> {};
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler(handler);
        TestVoter voter = TestVoter.single(directory, LogSizes.DEFAULT);
        try (voter) {
            try (ServerSocket other =
                    new ServerSocket(voter.voter.port(), 1, InetAddress.getByName(voter.voter.host()))) {
                assertThatThrownBy(voter::open)
                        .isInstanceOf(IOException.class)
                        .hasMessageStartingWith("cannot open the metadata quorum at 127.0.0.1:" + voter.voter.port()
                                + " (quorum.listener): ");
                assertThat(other.isBound()).isTrue();
            }
            assertThat(Thread.getDefaultUncaughtExceptionHandler()).isSameAs(handler);
            voter.stop();
            voter.open().awaitLeading().proposeAll(0, 1);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }
}
