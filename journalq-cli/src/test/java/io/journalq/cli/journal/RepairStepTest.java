package io.journalq.cli.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.JournalFinding;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RepairStepTest {
    @TempDir
    private Path directory;

    @Test
    void shouldMakeTheRemovedPartDurableBeforeItIsCutOff() throws IOException {
        // given
        Path log = directory.resolve("data").resolve("00000000000000000000.log");
        Files.createDirectories(log.getParent());
        Files.write(log, new byte[] {1, 2, 3, 4, 5});
        Path aside = directory.resolve("aside").resolve("journal");
        JournalFinding torn = new JournalFinding(log, 3, 5, JournalFinding.Kind.TORN_TAIL, "torn");
        List<String> synced = new ArrayList<>();

        // when
        RepairStep.of(torn, aside).run(observing(path -> synced.add(path.getFileName() + " " + Files.size(log))));

        // then
        assertThat(synced).containsExactly("journal 5");
        assertThat(log).hasBinaryContent(new byte[] {1, 2, 3});
        assertThat(aside.resolve(log.getFileName() + ".3-5")).hasBinaryContent(new byte[] {4, 5});
    }

    @Test
    void shouldLeaveNoCopyBehindWhenItCannotBeCompleted() throws IOException {
        // given a file that can be opened and not be read
        Path unreadable = Files.createDirectory(directory.resolve("00000000000000000000.index"));
        Path aside = directory.resolve("aside");
        RepairStep step = RepairStep.move(unreadable, aside, "damaged");

        // when
        assertThatThrownBy(() -> step.run(new SystemFileStore())).isInstanceOf(IOException.class);

        // then
        assertThat(aside).isEmptyDirectory();
        assertThat(unreadable).exists();
    }

    private interface Observer {
        void synced(Path directory) throws IOException;
    }

    /** Returns the real file store, which tells of each directory that it syncs. */
    private static FileStore observing(Observer observer) {
        FileStore store = new SystemFileStore();
        return (FileStore) Proxy.newProxyInstance(
                RepairStepTest.class.getClassLoader(), new Class<?>[] {FileStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("syncDirectory")) {
                        observer.synced((Path) arguments[0]);
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }
}
