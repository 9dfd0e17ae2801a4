package io.journalq.server.gateway.produce;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Texts of JSON as bytes. Stateless. */
public final class JsonText {
    /** What a text has that no bytes can represent. */
    public static final String HALF_PAIR = "half of a surrogate pair, which has no form in UTF-8";

    private JsonText() {}

    /** A text in UTF-8; null if it has half of a surrogate pair, for which {@link String#getBytes} stores a "?". */
    public static byte[] utf8(String text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        } catch (CharacterCodingException halfPair) {
            return null;
        }
    }
}
