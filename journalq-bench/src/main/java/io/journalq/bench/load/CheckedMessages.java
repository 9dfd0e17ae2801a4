package io.journalq.bench.load;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * Messages that begin with their number and a checksum, and how often each of them arrived. Used by one thread at a time.
 */
final class CheckedMessages {
    /** Number and checksum at the beginning of each message, in hexadecimal digits. */
    private static final int HEAD_BYTES = 2 * Long.BYTES;

    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LETTERS =
            "abcdefghijklmnopqrstuvwxyz 0123456789,.:-".getBytes(StandardCharsets.US_ASCII);

    private final int messageBytes;
    private final int[] arrivals;
    private final CRC32C checksum = new CRC32C();

    /** {@code messageBytes} is the size of each message; their numbers are below {@code count}. */
    CheckedMessages(int messageBytes, int count) {
        this.messageBytes = messageBytes;
        this.arrivals = new int[count];
    }

    int messageBytes() {
        return messageBytes;
    }

    /** Makes the message with a number. */
    byte[] message(int number) {
        byte[] message = new byte[messageBytes];
        SplittableRandom random = new SplittableRandom(number);
        for (int i = HEAD_BYTES; i < message.length; i++) {
            message[i] = LETTERS[random.nextInt(LETTERS.length)];
        }
        putHex(message, 0, number);
        putHex(message, Long.BYTES, checksum(message, 0) ^ number);
        return message;
    }

    private int checksum(byte[] bytes, int index) {
        checksum.reset();
        checksum.update(bytes, index + HEAD_BYTES, messageBytes - HEAD_BYTES);
        return (int) checksum.getValue();
    }

    private static void putHex(byte[] message, int index, int number) {
        for (int digit = 0; digit < Long.BYTES; digit++) {
            message[index + digit] = HEX[number >>> (28 - 4 * digit) & 0xf];
        }
    }

    private static int hex(byte[] message, int index) {
        int number = 0;
        for (int digit = 0; digit < Long.BYTES; digit++) {
            int each = message[index + digit];
            number = number << 4 | (each <= '9' ? each - '0' : each - 'a' + 10);
        }
        return number;
    }

    /** Checks and counts a message that begins at an index and must end before {@code end}. Returns its number. */
    int arrived(byte[] bytes, int index, int end) throws IOException {
        if (index + messageBytes > end) {
            throw new IOException("a message is too short");
        }
        int number = hex(bytes, index);
        if (hex(bytes, index + Long.BYTES) != (checksum(bytes, index) ^ number)) {
            throw new IOException("message " + number + " has a wrong checksum");
        }
        arrivals[number]++;
        return number;
    }

    /** Forgets what arrived. */
    void reset() {
        Arrays.fill(arrivals, 0);
    }

    /** Checks that each number arrived as often as it was sent. */
    void requireArrivals(int[] expected) {
        for (int i = 0; i < arrivals.length; i++) {
            if (arrivals[i] != expected[i]) {
                throw new BenchException(
                        "message " + i + " arrived " + arrivals[i] + " times instead of " + expected[i],
                        "report this defect");
            }
        }
    }
}
