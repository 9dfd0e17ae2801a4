package io.journalq.seal;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HexFormat;

/** The RSA key of the published vectors, because to make one takes seconds. */
final class TestRsa {
    static final RsaRoleKey KEY = read();

    private TestRsa() {}

    private static RsaRoleKey read() {
        try {
            JsonNode vectors = new ObjectMapper()
                    .readTree(Path.of("src", "test", "resources", "jqe1-vectors-2.json")
                            .toFile());
            HexFormat hex = HexFormat.of();
            return RsaRoleKey.of(
                    hex.parseHex(vectors.get("rsaPrivate").textValue()),
                    hex.parseHex(vectors.get("rsaPublic").textValue()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
