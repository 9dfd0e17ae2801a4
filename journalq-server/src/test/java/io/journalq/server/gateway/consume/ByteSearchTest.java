package io.journalq.server.gateway.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteSearchTest {
    private static boolean isIn(byte[] text, byte[] bytes) {
        // Bytes around those that are searched must not matter.
        ByteBuf buffer = Unpooled.buffer();
        buffer.writeBytes(text).writeBytes(bytes).writeBytes(text);
        return new ByteSearch(text).isIn(buffer.slice(text.length, bytes.length));
    }

    @ParameterizedTest
    @CsvSource({
        "coffee, a cup of Coffee, true",
        "COFFEE, a cup of coffee, true",
        "coffee, coffe, false",
        "coffee, a cup of coffef and tea, false",
        "x, abcdefgX, true",
        "x, abcdefghX, true",
        "@, `````````, false",
        "`, @@@@@@@@@, false",
        "[, {{{{{{{{{, false",
        "é, 'a caf\u00e9', true",
        "É, 'a caf\u00e9', false",
        "a, '', false"
    })
    void shouldFindATextInAnyCaseOfAsciiLetters(String text, String bytes, boolean found) {
        assertThat(isIn(text.getBytes(StandardCharsets.UTF_8), bytes.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(found);
    }

    @Test
    void shouldFindWhatAComparisonOfEachPositionFinds() {
        Random random = new Random(25);
        byte[] letters = {'a', 'A', 'b', 'B', 0, 1, (byte) 0x80, (byte) 0x81, (byte) 0xff, '@', '`'};
        int found = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] text = random(random, letters, 1 + random.nextInt(12));
            byte[] bytes = random(random, letters, random.nextInt(60));
            boolean expected = lower(bytes).contains(lower(text));

            assertThat(isIn(text, bytes)).as("case %d", i).isEqualTo(expected);
            found += expected ? 1 : 0;
        }
        assertThat(found).isBetween(500, 19_500);
    }

    private static byte[] random(Random random, byte[] letters, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = letters[random.nextInt(letters.length)];
        }
        return bytes;
    }

    /** Latin-1 keeps each byte, and only letters of ASCII are changed. */
    private static String lower(byte[] bytes) {
        StringBuilder text = new StringBuilder(new String(bytes, StandardCharsets.ISO_8859_1));
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each >= 'A' && each <= 'Z') {
                text.setCharAt(i, (char) (each + ('a' - 'A')));
            }
        }
        return text.toString();
    }
}
