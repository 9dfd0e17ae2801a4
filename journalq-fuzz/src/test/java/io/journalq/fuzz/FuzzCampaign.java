package io.journalq.fuzz;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Lets the fuzzer look for inputs that break something, each target in a process of its own with a small heap. What it
 * finds is written to the target's kept inputs, so that every later build tries it again. Arguments: the module's directory,
 * seconds for each target, and names of targets with commas between, all when there are none.
 */
public final class FuzzCampaign {
    private static final int SECONDS_FOR_ONE_INPUT = 120;
    private static final int STOP_SECONDS = 60;

    /** The fuzzer needs about half of it for its own tables; what is kept runs in half of it in every build. */
    private static final List<String> MEMORY = List.of(
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+EnableDynamicAgentLoading",
            "-Dio.netty.leakDetection.level=disabled",
            "-Dio.netty.allocator.numHeapArenas=0",
            "-Dio.netty.allocator.numDirectArenas=0",
            "-Dio.netty.maxDirectMemory=33554432");

    /** What the fuzzer else looks for, and finds where there is none of it; one of them breaks queues of the network. */
    private static final List<String> SANITIZERS = List.of(
            "BigDecimal",
            "ClojureLangHooks",
            "Deserialization",
            "ExpressionLanguageInjection",
            "FilePathTraversal",
            "LdapInjection",
            "NamingContextLookup",
            "OsCommandInjection",
            "ReflectiveCall",
            "RegexInjection",
            "RegexRoadblocks",
            "ScriptEngineInjection",
            "ServerSideRequestForgery",
            "SqlInjection",
            "TemplateInjection",
            "UnsafeSanitizer",
            "XPathInjection",
            "XmlParserSsrfGuidance");

    /** {@code #4194304 DONE   cov: 310 ft: 1200 corp: 120/14Kb ...} */
    private static final Pattern LINE = Pattern.compile("#(\\d+)\\s+\\S+\\s+cov: (\\d+) .*");

    private final Path module;
    private final int seconds;
    private final PrintStream out;

    private FuzzCampaign(Path module, int seconds, PrintStream out) {
        this.module = module;
        this.seconds = seconds;
        this.out = out;
    }

    /** Fails when any target does. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path module = Path.of(arguments[0]);
        List<String> wanted = arguments.length < 3 || arguments[2] == null || arguments[2].isBlank()
                ? FuzzTargets.all().stream().map(FuzzTarget::name).toList()
                : List.of(arguments[2].split(","));
        FuzzCampaign campaign = new FuzzCampaign(module, Integer.parseInt(arguments[1]), System.out);
        List<String> failed = new ArrayList<>();
        for (String name : wanted) {
            if (!campaign.fuzz(FuzzTargets.named(name))) {
                failed.add(name);
            }
        }
        if (!failed.isEmpty()) {
            throw new IllegalStateException("the fuzzer broke: " + String.join(", ", failed));
        }
    }

    /** False when an input broke the target. */
    private boolean fuzz(FuzzTarget target) throws IOException, InterruptedException {
        Path work = module.resolve(Path.of("target", "fuzz", target.name()));
        Path seeds = work.resolve("seeds");
        Path found = work.resolve("corpus");
        Files.createDirectories(found);
        Corpus.write(module, target, seeds);
        Path kept = Corpus.directory(module, target);
        Files.createDirectories(kept);

        Process fuzzer = new ProcessBuilder(command(target, kept, found, seeds))
                .directory(work.toFile())
                .redirectErrorStream(true)
                .start();
        String last = "";
        List<String> words = new ArrayList<>();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(fuzzer.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (LINE.matcher(line).matches()) {
                    last = line;
                } else {
                    words.add(line);
                }
            }
        }
        fuzzer.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        fuzzer.destroyForcibly();
        boolean sound = fuzzer.waitFor() == 0;
        Matcher counts = LINE.matcher(last);
        out.printf(
                "%-20s %12s inputs  %6s branches  %s%n",
                target.name(),
                counts.matches() ? counts.group(1) : "?",
                counts.matches() ? counts.group(2) : "?",
                sound ? "sound" : "BROKEN");
        Files.write(work.resolve("log"), words);
        if (!sound) {
            words.forEach(out::println);
        }
        removeIfEmpty(kept);
        return sound;
    }

    private List<String> command(FuzzTarget target, Path kept, Path found, Path seeds) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(MEMORY);
        command.add("-D" + JazzerEntry.TARGET + "=" + target.name());
        command.add("-cp");
        command.add(classPath());
        command.add("com.code_intelligence.jazzer.Jazzer");
        command.add("--target_class=" + JazzerEntry.class.getName());
        command.add("--instrumentation_includes=io.journalq.**");
        command.add("--instrumentation_excludes=io.journalq.fuzz.**:io.journalq.sim.**");
        command.add("--disabled_hooks="
                + SANITIZERS.stream()
                        .map("com.code_intelligence.jazzer.sanitizers."::concat)
                        .collect(Collectors.joining(File.pathSeparator)));
        command.add("--reproducer_path=" + found.getParent());
        command.add("-max_total_time=" + seconds);
        command.add("-timeout=" + SECONDS_FOR_ONE_INPUT);
        command.add("-rss_limit_mb=0");
        command.add("-max_len=" + target.maxInputSizeBytes());
        command.add("-artifact_prefix=" + kept + "/");
        command.add(found.toString());
        command.add(seeds.toString());
        return command;
    }

    /** That of this process, also when it runs inside of the build tool. */
    private static String classPath() {
        if (Thread.currentThread().getContextClassLoader() instanceof URLClassLoader loader) {
            return Stream.of(loader.getURLs())
                    .map(url -> Path.of(URI.create(url.toString())).toString())
                    .reduce((first, second) -> first + File.pathSeparator + second)
                    .orElseThrow();
        }
        return System.getProperty("java.class.path");
    }

    private static void removeIfEmpty(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            if (files.findAny().isPresent()) {
                return;
            }
        }
        Files.delete(directory);
    }
}
