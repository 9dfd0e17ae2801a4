package io.journalq.bench.measure;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

/** The machine, JDK, commit and time of a measurement. Part of every result. */
public record Machine(
        String cpu, int cores, long memoryBytes, String kernel, String jdk, String commit, String measuredAt) {

    public static Machine here() {
        return new Machine(
                ProcFile.value("/proc/cpuinfo", "model name")
                        .map(text -> text.replaceFirst("^\\s*:\\s*", ""))
                        .orElse(System.getProperty("os.arch")),
                Runtime.getRuntime().availableProcessors(),
                ProcFile.number("/proc/meminfo", "MemTotal:") * 1024,
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                System.getProperty("java.vm.name") + " " + Runtime.version(),
                findCommit(),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    }

    public String inWords() {
        return "%d x %s, %.1f GiB, %s, %s, commit %s, %s"
                .formatted(cores, cpu, memoryBytes / (double) (1 << 30), kernel, jdk, commit, measuredAt);
    }

    /** The commit of the checkout that contains the program, with "+changes" if the checkout differs from it. */
    private static String findCommit() {
        String home = System.getProperty("journalq.home", ".");
        String commit = git(home, "rev-parse", "--short=12", "HEAD");
        if (commit.isEmpty()) {
            String version = Machine.class.getPackage().getImplementationVersion();
            return version == null ? "unknown" : version;
        }
        return git(home, "status", "--porcelain", "--untracked-files=no").isEmpty() ? commit : commit + "+changes";
    }

    private static String git(String directory, String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "git";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(new File(directory))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0 ? output : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
