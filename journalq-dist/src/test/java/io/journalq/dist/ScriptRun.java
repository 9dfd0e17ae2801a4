package io.journalq.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One finished run of a script: its exit code and what it said. */
record ScriptRun(int exitCode, String out, String err) {
    private static final int MAX_SECONDS = 90;

    /** A command that is yet to be started. */
    static ProcessBuilder prepare(Path directory, Map<String, String> environment, List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
        // What the machine that runs these tests happens to have set is no part of them.
        builder.environment().keySet().removeIf(name -> name.startsWith("JOURNALQ_") || name.equals("JAVA_HOME"));
        // Most commands end before C2 pays.
        builder.environment().put("JOURNALQ_OPTS", "-XX:TieredStopAtLevel=1");
        builder.environment().putAll(environment);
        return builder;
    }

    /** Runs a command in a directory, with these variables besides those of the tests, and nothing to read. */
    static ScriptRun of(Path directory, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        return withInput("", directory, environment, command);
    }

    /** Runs a command that reads this. */
    static ScriptRun withInput(String input, Path directory, Map<String, String> environment, List<String> command)
            throws IOException, InterruptedException {
        Path out = Files.createTempFile("script", ".out");
        Path err = Files.createTempFile("script", ".err");
        try {
            Process process = prepare(directory, environment, command)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            try (OutputStream in = process.getOutputStream()) {
                in.write(input.getBytes(UTF_8));
            }
            boolean ended = process.waitFor(MAX_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly();
            }
            assertThat(ended).as("%s ended within %d s", command, MAX_SECONDS).isTrue();
            return new ScriptRun(process.exitValue(), Files.readString(out, UTF_8), Files.readString(err, UTF_8));
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }
}
