package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.broker.TestBroker;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs Kafka's own command-line tools, each as a program of its own, against a broker. */
final class ConsoleTool {
    private static final long LIMIT_SECONDS = 120;

    private final TestBroker broker;
    private final Path directory;

    /** @param directory where what they print is kept */
    ConsoleTool(TestBroker broker, Path directory) {
        this.broker = broker;
        this.directory = directory;
    }

    /** What a tool printed, and how it ended. */
    record Result(int exitCode, String out, String err) {
        Result succeeded() {
            assertThat(exitCode).as("%s%s", out, err).isZero();
            return this;
        }
    }

    /** Runs a tool that finds the broker by {@code --bootstrap-server}, and waits for its end. */
    Result run(String mainClass, String input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                mainClass,
                "--bootstrap-server",
                broker.bootstrap()));
        command.addAll(List.of(arguments));
        Path out = directory.resolve("out.txt");
        Path err = directory.resolve("err.txt");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try (OutputStream in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        }
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(mainClass + " did not end: " + Files.readString(out) + Files.readString(err));
        }
        return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
    }
}
