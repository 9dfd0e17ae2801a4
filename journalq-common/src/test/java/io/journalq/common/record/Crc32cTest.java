package io.journalq.common.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Against the vectors of RFC 3720, appendix B.4, and the check value of the catalogue of CRCs. */
class Crc32cTest {
    private static final int OFFSET = 5;

    static Stream<Arguments> vectors() {
        byte[] ones = new byte[32];
        Arrays.fill(ones, (byte) 0xFF);
        byte[] up = new byte[32];
        byte[] down = new byte[32];
        for (int i = 0; i < 32; i++) {
            up[i] = (byte) i;
            down[i] = (byte) (31 - i);
        }
        byte[] scsiRead = HexFormat.of()
                .parseHex("01c000000000000000000000000000001400000000000400"
                        + "000000140000001828000000000000000200000000000000");
        return Stream.of(
                Arguments.of(new byte[0], 0x00000000),
                Arguments.of(new byte[32], 0x8A9136AA),
                Arguments.of(ones, 0x62A8AB43),
                Arguments.of(up, 0x46DD794E),
                Arguments.of(down, 0x113FDB5C),
                Arguments.of(scsiRead, 0xD9963A56),
                Arguments.of("123456789".getBytes(StandardCharsets.US_ASCII), 0xE3069283));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void shouldAgreeWithTheStandardWhateverTheBuffer(byte[] bytes, int expected) {
        for (ByteBuf buffer : buffers(bytes)) {
            int readerIndex = buffer.readerIndex();

            assertThat(Crc32c.compute(buffer, OFFSET, bytes.length))
                    .as(buffer.toString())
                    .isEqualTo(expected);

            assertThat(buffer.readerIndex()).isEqualTo(readerIndex);
            buffer.release();
        }
    }

    /** The bytes behind some others, in every kind of buffer; the composite one has its seam in their midst. */
    private static List<ByteBuf> buffers(byte[] bytes) {
        byte[] framed = new byte[OFFSET + bytes.length + 3];
        Arrays.fill(framed, (byte) 0x5A);
        System.arraycopy(bytes, 0, framed, OFFSET, bytes.length);
        int seam = OFFSET + bytes.length / 2;
        ByteBuf direct = Unpooled.directBuffer().writeBytes(framed);
        ByteBuf padded = Unpooled.buffer().writeByte(1).writeBytes(framed);
        return List.of(
                Unpooled.copiedBuffer(framed),
                padded.slice(1, framed.length),
                direct,
                Unpooled.copiedBuffer(framed).asReadOnly(),
                Unpooled.wrappedBuffer(
                        Unpooled.copiedBuffer(framed, 0, seam),
                        Unpooled.directBuffer().writeBytes(framed, seam, framed.length - seam)));
    }

    @Test
    void shouldSeeEveryChangedBit() {
        ByteBuf buffer = Unpooled.wrappedBuffer(new byte[40]);
        int sound = Crc32c.compute(buffer, 0, 40);
        for (int bit = 0; bit < 40 * 8; bit++) {
            buffer.setByte(bit / 8, 1 << (bit % 8));
            assertThat(Crc32c.compute(buffer, 0, 40)).isNotEqualTo(sound);
            buffer.setByte(bit / 8, 0);
        }
    }

    @Test
    void shouldRefuseBytesOutsideTheBuffer() {
        ByteBuf heap = Unpooled.wrappedBuffer(new byte[10]);
        ByteBuf direct = Unpooled.directBuffer(10, 10);
        for (ByteBuf buffer : List.of(heap, direct)) {
            assertThatThrownBy(() -> Crc32c.compute(buffer, 5, 6)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> Crc32c.compute(buffer, -1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        }
        direct.release();
    }
}
