package io.journalq.bench.payload;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonDocumentsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @ParameterizedTest
    @ValueSource(ints = {40, 41, 60, 100, 163, 256, 1024, 4096})
    void shouldHaveExactlyTheSizeAskedForWhateverFits(int sizeBytes) throws IOException {
        JsonDocuments documents = new JsonDocuments(7);

        for (long number = 0; number < 200; number++) {
            String document = documents.document(number, sizeBytes);
            assertThat(document).hasSize(sizeBytes).doesNotContain("\n");
            assertThat(JSON.readTree(document).get("order").asLong()).isEqualTo(number);
        }
    }

    @Test
    void shouldHoldAsManyItemsAsThereIsRoomFor() throws IOException {
        JsonNode document = JSON.readTree(new JsonDocuments(7).document(Long.MAX_VALUE, 2048));

        assertThat(document.get("order").asLong()).isEqualTo(Long.MAX_VALUE);
        assertThat(document.get("items")).hasSizeGreaterThan(20);
        assertThat(document.get("customer").get("city").asText()).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {24, 26, 64, 100, 1024})
    void shouldLeaveADocumentBehindTheStampWhenMessagesAreStamped(int sizeBytes) throws IOException {
        byte[] message = PayloadPool.buildForStamps("json", sizeBytes, 1 << 14)
                .message(5)
                .clone();

        new Stamp(1, 2, 3).write(message);

        byte[] content = Arrays.copyOfRange(message, Stamp.SIZE_BYTES, sizeBytes);
        // 24 bytes are the stamp alone.
        assertThat(JSON.readTree(content).isObject()).isEqualTo(content.length > 0);
    }
}
