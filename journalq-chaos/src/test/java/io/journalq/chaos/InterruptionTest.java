package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.chaos.hostile.HostileLoad;
import io.journalq.chaos.hostile.HostileProcess;
import io.journalq.server.process.LoopbackPorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left when a program ends in the middle of its work, as by SIGTERM. */
class InterruptionTest {
    private static final int LIMIT_SECONDS = 60;

    @Test
    void shouldLeaveNoProcessWhenTheProgramIsInterrupted(@TempDir Path directory)
            throws IOException, InterruptedException {
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<ProcessHandle> started;
        try (BufferedReader lines = program.inputReader(StandardCharsets.UTF_8)) {
            started = lines.lines()
                    .filter(line -> line.startsWith(Program.STARTED))
                    .limit(2)
                    .map(line -> Long.parseLong(line.substring(Program.STARTED.length())))
                    .map(pid -> ProcessHandle.of(pid).orElseThrow())
                    .toList();
            assertThat(started).hasSize(2).allMatch(ProcessHandle::isAlive);

            program.destroy();
            assertThat(program.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            program.destroyForcibly();
        }
        try {
            assertThat(started).allSatisfy(process -> assertThat(process.onExit())
                    .succeedsWithin(LIMIT_SECONDS, TimeUnit.SECONDS));
        } finally {
            started.forEach(ProcessHandle::destroyForcibly);
        }
    }

    /** Starts a broker and a hostile load, and freezes the broker. */
    static final class Program {
        static final String STARTED = "started ";

        private Program() {}

        public static void main(String[] arguments) throws IOException, InterruptedException {
            int port = LoopbackPorts.next();
            try (BrokerUnderTest broker =
                            new BrokerUnderTest(Path.of(arguments[0]), port, "128m", List.of(), List.of());
                    HostileProcess load = HostileProcess.start(HostileLoad.BUSY_PROCESSOR, port, 1, false)) {
                broker.start();
                broker.freeze();
                System.out.println(STARTED + broker.pid());
                System.out.println(STARTED + load.pid());
                new CountDownLatch(1).await();
            }
        }
    }
}
