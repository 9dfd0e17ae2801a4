package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Refers to tests of any module that show that a known vulnerability of another product does not exist here. */
final class HeldBy {
    private static final Path CHECKOUT = Path.of("..");

    private HeldBy() {}

    /** Fails unless the class has this test, and it is not disabled. */
    static void test(String module, String className, String method) throws IOException {
        Path sources = CHECKOUT.resolve(module).resolve(Path.of("src", "test", "java"));
        List<Path> files;
        try (Stream<Path> all = Files.walk(sources)) {
            files = all.filter(file -> file.endsWith(className + ".java")).toList();
        }
        assertThat(files).as(module + " has " + className).hasSize(1);
        assertThat(Files.readString(files.get(0)))
                .as(className)
                .contains(" " + method + "(")
                .doesNotContain("@Disabled");
    }

    /** Fails if the sources of a module contain one of these texts. */
    static void absence(String module, String... texts) throws IOException {
        Path sources = CHECKOUT.resolve(module).resolve(Path.of("src", "main", "java"));
        try (Stream<Path> all = Files.walk(sources)) {
            for (Path file : all.filter(one -> one.toString().endsWith(".java")).toList()) {
                assertThat(Files.readString(file)).as(file.toString()).doesNotContain(texts);
            }
        }
    }
}
