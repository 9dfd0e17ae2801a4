package io.journalq.common.protocol;

import com.sun.management.ThreadMXBean;
import io.journalq.common.protocol.KafkaMessages.Oracle;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Bytes that nobody should send: nothing but {@link BadFrameException} comes out, and what is allocated on the way stays
 * in proportion to the frame. A failure names the seed; {@code -Djournalq.seed=N} runs that one alone.
 */
class HostileFrameTest {
    private static final int SEEDS = 3;
    private static final int FLIPS = 60;
    private static final int PLACES = 100;
    private static final int FILLER_SIZE_BYTES = 16 * 1024;

    /**
     * The smallest element takes two bytes on the wire and its object a few tens in memory; each level of nesting may
     * hold one list sized for a count that turns out to be a lie.
     */
    private static final int MAX_ALLOCATED_PER_BYTE = 80;

    private static final int MAX_ALLOCATED_EXTRA_BYTES = 4 * 1024;

    private static final int ATTEMPTS = 3;

    /** What a count, a length or a variable-length number may claim. */
    private static final byte[][] LIES = {
        {0x7F, -1, -1, -1},
        {-1, -1, -1, -1},
        {-1, -1, -1, -2},
        {(byte) 0x80, 0, 0, 0},
        {0, -1, -1, -1},
        {0, 0, 0x10, 0},
        {0x7F, -1},
        {-128 + 0x7F, -1, -1, -1, 0x07},
        {-1, -1, -1, -1, 0x0F},
        {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {-128, -128, -128, -128, -128, 0},
        {-1, 0x7F},
        {0x7F},
    };

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private interface Attack {
        void run(Oracle oracle, short version, long seed);
    }

    @TestFactory
    List<DynamicTest> shouldRefuseWhenTheFrameIsCutShort() {
        return forEveryMessage((oracle, version, seed) -> {
            byte[] whole =
                    new RandomMessages(seed, true).encode(oracle.schemas().get(version));
            for (int sizeBytes = 0; sizeBytes < whole.length; sizeBytes++) {
                if (attack(oracle, version, Arrays.copyOf(whole, sizeBytes))) {
                    throw new AssertionError("read from %d of %d bytes".formatted(sizeBytes, whole.length));
                }
            }
        });
    }

    @TestFactory
    List<DynamicTest> shouldReadOrRefuseWhenBitsAreFlipped() {
        return forEveryMessage((oracle, version, seed) -> {
            byte[] whole =
                    new RandomMessages(seed, true).encode(oracle.schemas().get(version));
            Random random = new Random(seed);
            for (int flip = 0; flip < FLIPS && whole.length > 0; flip++) {
                byte[] frame = whole.clone();
                for (int left = 1 + random.nextInt(4); left > 0; left--) {
                    frame[random.nextInt(frame.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
                }
                attack(oracle, version, frame);
            }
        });
    }

    @TestFactory
    List<DynamicTest> shouldReadOrRefuseWhenANumberLiesAtAnyPlace() {
        return forEveryMessage((oracle, version, seed) -> {
            byte[] whole =
                    new RandomMessages(seed, true).encode(oracle.schemas().get(version));
            // Every place in a small frame; in a large one those that the seed picks.
            int step = 1 + whole.length / PLACES;
            int first = new Random(seed).nextInt(step);
            for (int at = first; at < whole.length; at += step) {
                for (byte[] lie : LIES) {
                    byte[] frame = Arrays.copyOf(whole, Math.max(whole.length, at + lie.length));
                    System.arraycopy(lie, 0, frame, at, lie.length);
                    attack(oracle, version, frame);
                }
            }
        });
    }

    @TestFactory
    List<DynamicTest> shouldAllocateInProportionWhenALargeFrameIsFullOfTheSmallestElements() {
        long firstSeed = RandomMessages.seeds(SEEDS).get(0);
        return forEveryMessage((oracle, version, seed) -> {
            byte[] start =
                    new RandomMessages(seed, false).encode(oracle.schemas().get(version));
            for (byte filler : new byte[] {0, 1, 2, 3, 0x10, 0x7F, -1}) {
                byte[] frame = new byte[FILLER_SIZE_BYTES];
                Arrays.fill(frame, filler);
                if (seed == firstSeed) {
                    // Without the random start, the frame is the same for each seed.
                    attack(oracle, version, frame);
                }
                System.arraycopy(start, 0, frame, 0, Math.min(start.length / 2, frame.length));
                attack(oracle, version, frame);
            }
        });
    }

    @TestFactory
    List<DynamicTest> shouldReadOrRefuseWhenBytesAreRandom() {
        return forEveryMessage((oracle, version, seed) -> {
            Random random = new Random(seed);
            for (int left = FLIPS; left > 0; left--) {
                byte[] frame = new byte[random.nextInt(300)];
                for (int i = 0; i < frame.length; i++) {
                    // Small numbers are believable counts, so that reading gets deep.
                    frame[i] = (byte) (random.nextBoolean() ? random.nextInt(4) : random.nextInt());
                }
                attack(oracle, version, frame);
            }
        });
    }

    /** Reads a frame and checks what it cost; returns whether it was a message. */
    private static boolean attack(Oracle oracle, short version, byte[] frame) {
        long bound = (long) MAX_ALLOCATED_PER_BYTE * frame.length + MAX_ALLOCATED_EXTRA_BYTES;
        long allocatedBytes = Long.MAX_VALUE;
        boolean read = false;
        // The runtime itself allocates now and then (a call site linked, a method handle compiled): once, not again.
        for (int attempt = 0; attempt < ATTEMPTS && allocatedBytes > bound; attempt++) {
            MessageReader in = new MessageReader(Unpooled.wrappedBuffer(frame));
            long before = THREADS.getCurrentThreadAllocatedBytes();
            read = isMessage(oracle, version, in);
            allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - before;
        }
        if (allocatedBytes > bound) {
            throw new AssertionError("a frame of %d bytes made it allocate %d".formatted(frame.length, allocatedBytes));
        }
        return read;
    }

    private static boolean isMessage(Oracle oracle, short version, MessageReader in) {
        try {
            oracle.read(in, version);
            return true;
        } catch (BadFrameException e) {
            return false;
        }
    }

    private static List<DynamicTest> forEveryMessage(Attack attack) {
        return KafkaMessages.all().stream()
                .map(oracle -> DynamicTest.dynamicTest(oracle.name(), () -> {
                    warmUp(oracle);
                    for (short version = oracle.lowestVersion(); version <= oracle.highestVersion(); version++) {
                        for (long seed : RandomMessages.seeds(SEEDS)) {
                            runNamed(attack, oracle, version, seed);
                        }
                    }
                }))
                .toList();
    }

    /** Loads the classes, so that what is measured afterwards is the message. */
    private static void warmUp(Oracle oracle) {
        byte[] bytes = oracle.writeOurs(oracle.emptyOurs(), oracle.highestVersion());
        oracle.read(new MessageReader(Unpooled.wrappedBuffer(bytes)), oracle.highestVersion());
        for (short version = oracle.lowestVersion(); version <= oracle.highestVersion(); version++) {
            for (long seed : RandomMessages.seeds(SEEDS)) {
                oracle.readOurs(
                        new RandomMessages(seed, true).encode(oracle.schemas().get(version)), version);
            }
        }
    }

    private static void runNamed(Attack attack, Oracle oracle, short version, long seed) {
        try {
            attack.run(oracle, version, seed);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("%s version %d seed %d".formatted(oracle.name(), version, seed), e);
        }
    }
}
