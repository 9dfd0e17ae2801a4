package io.journalq.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the jar of the console contains. */
class ConsoleFilesTest {
    private static final Path DIRECTORY = Path.of("src", "main", "resources", "io", "journalq", "console");
    private static final String LIST = "files.txt";
    private static final int MAX_COMPRESSED_BYTES = 150 * 1024;

    private static List<String> listed() throws IOException {
        return Files.readAllLines(DIRECTORY.resolve(LIST));
    }

    @Test
    void shouldListEveryFileWhenOneIsAdded() throws IOException {
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            assertThat(listed())
                    .as("the gateway serves the files of %s", LIST)
                    .containsExactlyElementsOf(
                            files.map(file -> file.getFileName().toString())
                                    .filter(name -> !name.equals(LIST))
                                    .sorted()
                                    .toList());
        }
    }

    @Test
    void shouldStaySmallWhenItGrows() throws IOException {
        int compressedBytes = 0;
        for (String name : listed()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
                gzip.write(Files.readAllBytes(DIRECTORY.resolve(name)));
            }
            compressedBytes += out.size();
        }

        assertThat(compressedBytes).isLessThanOrEqualTo(MAX_COMPRESSED_BYTES);
    }

    /** The files of others are as their authors have published them. */
    @ParameterizedTest
    @CsvSource({
        "preact.js, 72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
        "uplot.js, 2d27e8ad3d228164525ce213f9dc716f39b4e3aee0cc773fb3491c96cf4921a2",
        "uplot.css, df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04"
    })
    void shouldContainTheReleasesOfOthersUnchangedWhenPackaged(String name, String sha256) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(DIRECTORY.resolve(name)));

        assertThat(HexFormat.of().formatHex(digest)).isEqualTo(sha256);
    }

    @Test
    void shouldLoadOnlyFilesOfTheBrokerWhenAPageIsOpened() throws IOException {
        for (String name : listed()) {
            if (!List.of("third-party.txt", "preact.js", "uplot.js").contains(name)) {
                String text = Files.readString(DIRECTORY.resolve(name)).replace("http://www.w3.org/2000/svg", "");
                assertThat(text).as(name).doesNotContain("http://", "https://", "innerHTML =", "eval(");
            }
        }
    }
}
