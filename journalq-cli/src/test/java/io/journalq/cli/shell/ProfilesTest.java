package io.journalq.cli.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfilesTest {
    private static final int COUNT = 50;

    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("journalq").resolve("profiles");
    }

    private static Profile profile(String bootstrap) {
        return new Profile(bootstrap, null, null);
    }

    @Test
    void shouldKeepTheProfilesOfCommandsThatRunAtTheSameTime() throws Exception {
        // given
        ExecutorService commands = Executors.newFixedThreadPool(2);
        Callable<Void> adding = () -> {
            for (int i = 0; i < COUNT; i++) {
                String name = Thread.currentThread().getId() + "-" + i;
                new Profiles(file()).put(name, profile("localhost:9092"));
            }
            return null;
        };

        // when
        try {
            for (Future<Void> added : commands.invokeAll(List.of(adding, adding))) {
                added.get();
            }
        } finally {
            commands.shutdown();
        }

        // then
        assertThat(new Profiles(file()).all()).hasSize(2 * COUNT);
    }

    @Test
    void shouldLeaveNoTemporaryFileWhenTheProfilesCannotBeWritten() throws Exception {
        // given
        Profiles profiles = new Profiles(file());
        profiles.put("prod", profile("localhost:9092"));

        // when a text cannot be written in UTF-8
        assertThatThrownBy(() -> profiles.put("wrong", profile("\ud800:9092"))).isInstanceOf(IOException.class);

        // then
        assertThat(profiles.all()).containsOnlyKeys("prod");
        try (Stream<Path> files = Files.list(file().getParent())) {
            assertThat(files).noneMatch(path -> path.toString().endsWith(".tmp"));
        }
    }
}
