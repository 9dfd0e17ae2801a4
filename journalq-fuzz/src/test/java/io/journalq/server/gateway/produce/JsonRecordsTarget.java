package io.journalq.server.gateway.produce;

import io.journalq.fuzz.FuzzTarget;
import io.journalq.server.gateway.problem.ProblemException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Records in JSON, as a document and as lines. First byte: size of the parts in which the rest arrives. The parts must not
 * change what is read.
 */
public final class JsonRecordsTarget implements FuzzTarget {
    private static final Targets.Target TOPIC = new Targets.Target("t", 3, 0, 1 << 20, () -> 1, null);

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);

    @Override
    public String name() {
        return "json-records";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (String text : List.of(
                "{\"records\": [{\"key\": \"a\", \"value\": \"text é\"}, {\"keyBase64\": \"AAE=\", \"partition\": 2}]}",
                "{\"records\":[{\"value\":{\"n\":1.5,\"list\":[true,null,\"x\"]},\"timestamp\":5}]}",
                "{\"value\":\"\\u00e9\\ud83d\\ude00\\n\",\"headers\":[{\"name\":\"h\",\"value\":null}]}\n{\"value\":-1e5}\n")) {
            seeds.add(("\u0007" + text).getBytes(StandardCharsets.UTF_8));
        }
        return seeds;
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return 64L << 20;
    }

    @Override
    public void run(byte[] input) {
        if (input.length < 2) {
            return;
        }
        ByteBuf document = Unpooled.wrappedBuffer(input, 1, input.length - 1);
        for (RecordsParser.Form form : RecordsParser.Form.values()) {
            List<String> whole = parse(form, document, document.readableBytes());
            List<String> parts = parse(form, document, 1 + (input[0] & 0xff));
            if (!whole.equals(parts)) {
                throw new AssertionError(form + ": whole " + whole + ", in parts " + parts);
            }
        }
    }

    private List<String> parse(RecordsParser.Form form, ByteBuf document, int partBytes) {
        List<String> records = new ArrayList<>();
        try (RecordsParser parser = new RecordsParser(
                allocator,
                form,
                TOPIC,
                (partition, timestampMs, key, value, headers) -> records.add(partition + " " + timestampMs + " "
                        + (key == null ? -1 : key.length) + " " + (value == null ? -1 : value.readableBytes()) + " "
                        + headers.size()))) {
            int index = document.readerIndex();
            while (index < document.writerIndex()) {
                int count = Math.min(partBytes, document.writerIndex() - index);
                parser.parse(document.slice(index, count));
                index += count;
            }
            parser.end();
        } catch (ProblemException refused) {
            records.add("refused");
        }
        return records;
    }
}
