package io.journalq.fuzz;

import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.security.sasl.PasswordCheck;
import io.journalq.server.security.sasl.SaslExchange;
import io.journalq.server.security.sasl.SaslMechanisms;
import io.journalq.server.security.sasl.SaslStep;
import io.journalq.server.security.sasl.ScramUsers;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;

/**
 * The messages of a login, to the broker and to the client. First byte: the mechanism; then messages, separated by line
 * breaks. No input knows the password, so no login may succeed.
 */
final class SaslTarget implements FuzzTarget {
    private static final List<String> MECHANISMS = List.of("SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN");
    private static final int MAX_MESSAGES = 4;
    private static final int MAX_ALLOCATED_PER_BYTE = 200;
    private static final int MAX_ALLOCATED_EXTRA_BYTES = 512 * 1024;

    private final SaslMechanisms mechanisms;

    /** Always the same nonce. */
    private static final class ConstantRandom extends SecureRandom {
        private static final long serialVersionUID = 1L;

        @Override
        public void nextBytes(byte[] bytes) {
            Arrays.fill(bytes, (byte) 7);
        }
    }

    SaslTarget() {
        ScramImage image = ScramImage.NONE;
        byte[] salt = {1, 2, 3, 4};
        for (ScramMechanism mechanism : ScramMechanism.values()) {
            byte[] password = "nobody knows this password".getBytes(StandardCharsets.US_ASCII);
            image = image.with("ada", mechanism.credential(mechanism.saltedPassword(password, salt, 1), salt, 1));
        }
        ScramImage users = image;
        ScramUsers known = new ScramUsers(() -> users, new byte[32]);
        mechanisms = new SaslMechanisms(
                MECHANISMS, known, new PasswordCheck(known, Runnable::run, new byte[32]), null, new ConstantRandom());
    }

    @Override
    public String name() {
        return "sasl";
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(
                seed(0, "n,,n=ada,r=abc\nc=biws,r=abcBwcHBwcHBwcHBwcHBwcHBwcHBwcH,p=" + "A".repeat(43) + "="),
                seed(1, "y,a=ada,n=ada,r=abc,x=1\nc=eSxhPWFkYSw=,r=abcBwcH,p=AAAA"),
                seed(2, "\0ada\0password"),
                seed(0, "r=abc,s=AQIDBA==,i=4096\nv=AAAA"),
                seed(1, "e=other-error"));
    }

    private static byte[] seed(int mechanism, String messages) {
        byte[] text = messages.getBytes(StandardCharsets.UTF_8);
        byte[] seed = new byte[1 + text.length];
        seed[0] = (byte) mechanism;
        System.arraycopy(text, 0, seed, 1, text.length);
        return seed;
    }

    @Override
    public void run(byte[] input) {
        if (input.length == 0) {
            return;
        }
        SaslExchange exchange = mechanisms.begin(MECHANISMS.get(Byte.toUnsignedInt(input[0]) % MECHANISMS.size()));
        int start = 1;
        int messages = 0;
        for (int end = 1; end <= input.length && messages < MAX_MESSAGES; end++) {
            if (end == input.length || input[end] == '\n') {
                byte[] message = Arrays.copyOfRange(input, start, end);
                SaslStep step = exchange.next(message).toCompletableFuture().join();
                if (step instanceof SaslStep.Success) {
                    throw new IllegalStateException("a login without the password");
                }
                readAsClient(new String(message, StandardCharsets.UTF_8));
                start = end + 1;
                messages++;
            }
        }
    }

    private static void readAsClient(String message) {
        try {
            ServerFirst.parse(message);
        } catch (IllegalArgumentException malformed) {
            // As expected.
        }
        try {
            ScramMessages.parseServerFinal(message);
        } catch (IllegalArgumentException malformed) {
            // As expected.
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_EXTRA_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
