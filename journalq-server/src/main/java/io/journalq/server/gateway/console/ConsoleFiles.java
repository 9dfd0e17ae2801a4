package io.journalq.server.gateway.console;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of the console. They are read and compressed when the first of them is asked for, in the blocking pool, so
 * that a broker whose console nobody opens pays nothing for it. Any thread.
 */
final class ConsoleFiles {
    private static final Logger log = LoggerFactory.getLogger(ConsoleFiles.class);

    /** The list of the files, which is in the jar of the console. */
    private static final String LIST = "/io/journalq/console/files.txt";

    private static final String DIRECTORY = "/io/journalq/console/";
    private static final int TAG_CHARS = 16;

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml",
            "txt", "text/plain; charset=utf-8");

    private final Executor blockingPool;
    private final Supplier<Map<String, File>> reader;
    private CompletableFuture<Map<String, File>> files;

    /**
     * A file. Its buffers are never released.
     *
     * @param tag identifies its content
     */
    record File(String type, ByteBuf content, ByteBuf compressed, String tag) {
        /** The content in one of its encodings, which the caller releases. */
        ByteBuf encoded(boolean gzip) {
            return (gzip ? compressed : content).retainedDuplicate();
        }
    }

    ConsoleFiles(Executor blockingPool) {
        this(blockingPool, ConsoleFiles::read);
    }

    /** @param reader reads and compresses all files, in the blocking pool */
    ConsoleFiles(Executor blockingPool, Supplier<Map<String, File>> reader) {
        this.blockingPool = blockingPool;
        this.reader = reader;
    }

    /**
     * All files by name; none if the console is not on the class path. If they cannot be read, the next call tries again:
     * the lack of memory or of open files may be over.
     */
    synchronized CompletableFuture<Map<String, File>> all() {
        if (files == null || files.isCompletedExceptionally()) {
            files = CompletableFuture.supplyAsync(reader, blockingPool);
            var unused = files.whenComplete((read, failure) -> {
                if (failure != null) {
                    log.error("cannot read the files of the console", failure);
                }
            });
        }
        return files;
    }

    private static Map<String, File> read() {
        Map<String, File> read = new LinkedHashMap<>();
        try {
            for (String name :
                    new String(bytes(LIST), StandardCharsets.UTF_8).lines().toList()) {
                byte[] content = bytes(DIRECTORY + name);
                String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
                read.put(
                        name,
                        new File(
                                type,
                                Unpooled.wrappedBuffer(content),
                                Unpooled.wrappedBuffer(compressed(content)),
                                tag(content)));
            }
        } catch (FileNotFoundException notOnTheClassPath) {
            return Map.of();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return read;
    }

    private static byte[] bytes(String path) throws IOException {
        try (InputStream in = ConsoleFiles.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new FileNotFoundException(path);
            }
            return in.readAllBytes();
        }
    }

    private static byte[] compressed(byte[] content) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        }
        return out.toByteArray();
    }

    private static String tag(byte[] content) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
            return '"' + HexFormat.of().formatHex(digest).substring(0, TAG_CHARS) + '"';
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
