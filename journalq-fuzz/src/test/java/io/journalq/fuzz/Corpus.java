package io.journalq.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The inputs of a target that are kept: its seeds, and the files in its directory. Stateless. */
final class Corpus {
    private Corpus() {}

    /** The directory of a target's kept inputs: what once went wrong by name, and what a fuzzer found useful. */
    static Path directory(Path module, FuzzTarget target) {
        return module.resolve(Path.of("src", "test", "corpus", target.name()));
    }

    /** Every input by a name for people. */
    static Map<String, byte[]> inputs(Path module, FuzzTarget target) throws IOException {
        Map<String, byte[]> inputs = new TreeMap<>();
        List<byte[]> seeds = target.seeds();
        for (int i = 0; i < seeds.size(); i++) {
            inputs.put("seed-%03d".formatted(i), seeds.get(i));
        }
        Path directory = directory(module, target);
        if (Files.isDirectory(directory)) {
            try (Stream<Path> files = Files.list(directory)) {
                files.forEach(file -> inputs.put(file.getFileName().toString(), read(file)));
            }
        }
        return inputs;
    }

    /** Writes seeds and kept inputs to a directory, as a fuzzer wants them. */
    static void write(Path module, FuzzTarget target, Path directory) throws IOException {
        Files.createDirectories(directory);
        for (Map.Entry<String, byte[]> input : inputs(module, target).entrySet()) {
            Files.write(directory.resolve(input.getKey()), input.getValue());
        }
    }

    /** The contents alone. */
    static List<byte[]> contents(Path module, FuzzTarget target) throws IOException {
        return new ArrayList<>(inputs(module, target).values());
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
