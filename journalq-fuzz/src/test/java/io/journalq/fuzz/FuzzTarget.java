package io.journalq.fuzz;

import java.util.List;

/**
 * Something that reads bytes which nobody vouches for. The same input always does the same. One thread.
 */
public interface FuzzTarget {
    /** Name of its directory of inputs. */
    String name();

    /** Inputs that get far, from which a fuzzer makes others; generated each time, so that they follow the formats. */
    List<byte[]> seeds();

    /**
     * Takes in an input. What bad bytes are expected to cause is caught here; whatever comes out is a defect.
     *
     * @throws Exception for a defect
     */
    void run(byte[] input) throws Exception;

    /** Most bytes on the heap, garbage included, that an input may cost. */
    long maxAllocatedBytes(int inputSizeBytes);

    /** Length beyond which the fuzzer does not try. */
    default int maxInputSizeBytes() {
        return 4_096;
    }
}
