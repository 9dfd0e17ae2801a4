package io.journalq.cli.shell;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Collects what is written until it is worth a system call, or {@link #flush()} asks for it. Takes network buffers as they
 * are, and no lock: one thread at a time.
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

    /** Copies the readable bytes; the buffer's indexes stay. */
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
        // Also after a failure: what could not be written once must not be tried again and again.
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
