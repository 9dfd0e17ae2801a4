package io.journalq.server.gateway.http;

import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Decompresses a body (RFC 1952, one member). It decompresses {@link #PART_BYTES} at a time, and lets other connections
 * have their turns in between, so that a body that expands a thousandfold delays nobody. On the connection's loop.
 */
final class GzipBody implements RequestBody {
    private static final int PART_BYTES = 64 * 1024;
    private static final int FIXED_HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;
    private static final int MAX_HEADER_BYTES = 64 * 1024;
    private static final int MAGIC = 0x1f8b;
    private static final int DEFLATE = 8;
    private static final int HEADER_CHECKSUM_FLAG = 2;
    private static final int EXTRA_FLAG = 4;
    private static final int NAME_FLAG = 8;
    private static final int COMMENT_FLAG = 16;
    private static final int RESERVED_FLAGS = 0xe0;

    private final HttpExchange exchange;
    private final RequestBody target;
    private final CRC32 checksum = new CRC32();

    /** Bytes that have arrived and are not decompressed. */
    private final ByteBuf input;

    /** Null until data arrives, for which memory is reserved. */
    private Inflater inflater;

    private boolean headerRead;
    private boolean finished;
    private long sizeBytes;

    GzipBody(HttpExchange exchange, RequestBody target) {
        this.exchange = exchange;
        this.target = target;
        this.input = exchange.allocator().directBuffer();
    }

    @Override
    public void onData(ByteBuf data) {
        input.discardSomeReadBytes();
        input.writeBytes(data, data.readerIndex(), data.readableBytes());
    }

    @Override
    public boolean goOn() {
        if (target.goOn()) {
            return true;
        }
        if (!headerRead) {
            headerRead = readHeader();
        }
        if (!headerRead || finished) {
            if (finished && input.readableBytes() > TRAILER_BYTES) {
                throw invalid("there are bytes behind its end");
            }
            return false;
        }
        return inflatePart();
    }

    /** Decompresses one part. Returns whether there may be more. */
    private boolean inflatePart() {
        if (inflater == null) {
            inflater = new Inflater(true);
        }
        ByteBuffer compressed = input.nioBuffer();
        inflater.setInput(compressed);
        ByteBuf part = exchange.allocator().directBuffer(PART_BYTES, PART_BYTES);
        try {
            int size = inflater.inflate(part.internalNioBuffer(0, PART_BYTES));
            input.skipBytes(input.readableBytes() - compressed.remaining());
            if (inflater.needsDictionary()) {
                throw invalid("it needs a dictionary");
            }
            finished = inflater.finished();
            if (size == 0) {
                return finished;
            }
            part.writerIndex(size);
            sizeBytes += size;
            if (sizeBytes > RequestHead.MAX_BODY_BYTES) {
                throw RequestHead.bodyTooLarge();
            }
            checksum.update(part.internalNioBuffer(0, size));
            exchange.charge(size);
            target.onData(part);
            return true;
        } catch (DataFormatException malformed) {
            throw invalid("its compressed data is malformed");
        } finally {
            part.release();
        }
    }

    @Override
    public void onEnd() {
        if (!finished || input.readableBytes() != TRAILER_BYTES) {
            throw invalid("it ends too early");
        }
        if (input.readIntLE() != (int) checksum.getValue() || input.readIntLE() != (int) sizeBytes) {
            throw invalid("its checksum is wrong");
        }
        target.onEnd();
    }

    @Override
    public boolean onCutShort(Problem problem) {
        return target.onCutShort(problem);
    }

    @Override
    public void onDrain() {
        target.onDrain();
    }

    @Override
    public void onExpired(Problem problem) {
        target.onExpired(problem);
    }

    @Override
    public void onClosed() {
        if (inflater != null) {
            inflater.end();
        }
        input.release();
        target.onClosed();
    }

    /** Skips the header. Returns false if it is not complete. */
    private boolean readHeader() {
        int start = input.readerIndex();
        int left = input.readableBytes();
        if (left < FIXED_HEADER_BYTES) {
            return false;
        }
        int flags = input.getUnsignedByte(start + 3);
        if (input.getUnsignedShort(start) != MAGIC
                || input.getByte(start + 2) != DEFLATE
                || (flags & RESERVED_FLAGS) != 0) {
            throw invalid("it is not in the format of gzip");
        }
        int size = FIXED_HEADER_BYTES;
        if ((flags & EXTRA_FLAG) != 0) {
            size = left < size + Short.BYTES ? left + 1 : size + Short.BYTES + input.getUnsignedShortLE(start + size);
        }
        if ((flags & NAME_FLAG) != 0) {
            size = behindText(size);
        }
        if ((flags & COMMENT_FLAG) != 0) {
            size = behindText(size);
        }
        if ((flags & HEADER_CHECKSUM_FLAG) != 0) {
            size += Short.BYTES;
        }
        if (size > left) {
            if (left > MAX_HEADER_BYTES) {
                throw invalid("its header exceeds 64 KiB");
            }
            return false;
        }
        input.skipBytes(size);
        return true;
    }

    /** The position behind the text that begins at a position of the input; beyond the input if it is not complete. */
    private int behindText(int from) {
        if (from >= input.readableBytes()) {
            return input.readableBytes() + 1;
        }
        int length = input.bytesBefore(input.readerIndex() + from, input.readableBytes() - from, (byte) 0);
        return length < 0 ? input.readableBytes() + 1 : from + length + 1;
    }

    private static ProblemException invalid(String what) {
        return new Problem(
                        ProblemType.INVALID_BODY,
                        "the body has Content-Encoding: gzip, but " + what,
                        "send one complete gzip member")
                .exception();
    }
}
