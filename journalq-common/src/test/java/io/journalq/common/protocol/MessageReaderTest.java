package io.journalq.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageReaderTest {
    @ParameterizedTest
    @CsvSource({"00,0", "7F,127", "8001,128", "FFFFFFFF07,2147483647"})
    void shouldReadTheNumberWhenAVarintIsWellFormed(String hex, int value) {
        MessageReader in = reader(hex);

        assertThat(in.readUnsignedVarint()).isEqualTo(value);
        in.expectEnd();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "80", "FFFFFFFF", "FFFFFFFF08", "FFFFFFFF0F", "FFFFFFFFFF01", "808080808000"})
    void shouldRefuseWhenAVarintIsCutShortOrTooLarge(String hex) {
        assertThatThrownBy(() -> reader(hex).readUnsignedVarint()).isInstanceOf(BadFrameException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 1, 63, -64, 64, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void shouldReadBackTheNumberWhenAZigzagVarintIsWritten(int value) {
        MessageWriter out = new MessageWriter(ByteBufAllocator.DEFAULT);
        out.writeVarint(value);
        out.writeVarlong(value);
        out.writeVarlong(Long.MIN_VALUE + value);
        ByteBuf written = (ByteBuf) out.finish().get(0);

        MessageReader in = new MessageReader(written);

        assertThat(in.readVarint()).isEqualTo(value);
        assertThat(in.readVarlong()).isEqualTo(value);
        assertThat(in.readVarlong()).isEqualTo(Long.MIN_VALUE + value);
        in.expectEnd();
        written.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {"FFFFFFFF1F", "FFFFFFFFFFFFFFFFFFFF01", "8080808080"})
    void shouldRefuseWhenAZigzagVarintExceedsItsType(String hex) {
        assertThatThrownBy(() -> reader(hex).readVarint()).isInstanceOf(BadFrameException.class);
    }

    @Test
    void shouldRefuseWhenAZigzagVarlongExceedsTenBytes() {
        assertThatThrownBy(() -> reader("FFFFFFFFFFFFFFFFFF02").readVarlong()).isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> reader("80808080808080808080").readVarlong()).isInstanceOf(BadFrameException.class);
    }

    @Test
    void shouldReadReplacementCharactersWhenTextIsNotUtf8() {
        assertThat(reader("0003C3289F").readString(false)).isEqualTo("\uFFFD(\uFFFD");
    }

    @Test
    void shouldRefuseWhenAValueIsNullThatMayNotBe() {
        assertThatThrownBy(() -> reader("FFFF").readString(false)).isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> reader("00").readString(true)).isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> reader("FFFFFFFF").readRecords(false)).isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> reader("00").readCount(true, 1)).isInstanceOf(BadFrameException.class);
        assertThat(reader("00").readNullableString(true)).isNull();
        assertThat(reader("FFFFFFFF").readNullableRecords(false)).isNull();
        assertThat(reader("FFFFFFFF").readNullableCount(false, 1)).isEqualTo(-1);
    }

    @Test
    void shouldRefuseWhenACountExceedsWhatTheBytesCouldHold() {
        assertThat(reader("00000002" + "00000000").readCount(false, 2)).isEqualTo(2);
        assertThatThrownBy(() -> reader("00000003" + "00000000").readCount(false, 2))
                .isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> reader("7FFFFFFF" + "00000000").readCount(false, 2))
                .isInstanceOf(BadFrameException.class);
        assertThatThrownBy(() -> reader("FFFFFFFE").readNullableCount(false, 2)).isInstanceOf(BadFrameException.class);
    }

    @Test
    void shouldShareTheFramesBytesWhenRecordsAreRead() {
        // given
        ByteBuf frame = Unpooled.buffer().writeInt(3).writeBytes("abc".getBytes(StandardCharsets.US_ASCII));

        // when
        RecordsData records = new MessageReader(frame).readRecords(false);
        frame.setByte(5, 'B');

        // then
        assertThat(records.buffer().toString(StandardCharsets.US_ASCII)).isEqualTo("aBc");
        assertThat(frame.readerIndex()).isZero();
    }

    @Test
    void shouldRefuseWhenATaggedFieldIsNotAsLongAsItSays() {
        MessageReader in = reader("00" + "04" + "0000000100");
        assertThat(in.readTag()).isZero();
        int end = in.readTagEnd();
        in.readShort();
        assertThatThrownBy(() -> in.endTag(end)).isInstanceOf(BadFrameException.class);
    }

    @Test
    void shouldCarryNoStackTraceWhenAFrameIsBad() {
        assertThatThrownBy(() -> reader("").readInt())
                .isInstanceOf(BadFrameException.class)
                .satisfies(e -> assertThat(e.getStackTrace()).isEmpty());
    }

    private static MessageReader reader(String hex) {
        return new MessageReader(Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex)));
    }
}
