package io.journalq.cli.shell;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Buffers output until the buffer is full or {@link #flush()} is called. Accepts network buffers. Has no lock: one
 * thread at a time.
 */
final class OutputBuffer extends OutputStream {
    private final OutputStream out;
    private final byte[] buffer;
    private int size;

    OutputBuffer(OutputStream out, int capacityBytes) {
        this.out = out;
        this.buffer = new byte[capacityBytes];
    }

    @Override
    public void write(int b) throws IOException {
        if (size == buffer.length) {
            send();
        }
        buffer[size++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        if (length > buffer.length - size) {
            send();
            if (length >= buffer.length) {
                out.write(bytes, offset, length);
                return;
            }
        }
        System.arraycopy(bytes, offset, buffer, size, length);
        size += length;
    }

    /** Copies the readable bytes without changing the indexes of the buffer. */
    void write(ByteBuf bytes) throws IOException {
        int index = bytes.readerIndex();
        int left = bytes.readableBytes();
        while (left > 0) {
            if (size == buffer.length) {
                send();
            }
            int step = Math.min(left, buffer.length - size);
            bytes.getBytes(index, buffer, size, step);
            size += step;
            index += step;
            left -= step;
        }
    }

    private void send() throws IOException {
        int ready = size;
        // Also after a failure, because bytes that cannot be written must not be written again.
        size = 0;
        out.write(buffer, 0, ready);
    }

    @Override
    public void flush() throws IOException {
        if (size > 0) {
            send();
        }
        out.flush();
    }
}
