package io.journalq.fuzz;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.UnsupportedVersionException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A message of each kind whose fields all say something: every name is {@link #NAME}, every list has an element, every
 * number is 0. So whatever they name is the same thing, which exists where the target makes it. Stateless.
 */
public final class SampleMessages {
    /** Of topics, groups, members, clients. */
    public static final String NAME = "t";

    private static final String PACKAGE = "io.journalq.common.protocol.message.";

    private SampleMessages() {}

    /** A request in a version; without content where that version cannot carry all of it. */
    public static byte[] request(ApiKey key, short version) {
        return encode(PACKAGE + key.apiName() + "Request", version);
    }

    /** A response, likewise. */
    public static byte[] response(ApiKey key, short version) {
        return encode(PACKAGE + key.apiName() + "Response", version);
    }

    /** A message, filled as far as the version can carry it. */
    public static byte[] encode(String className, short version) {
        try {
            Class<?> type = Class.forName(className);
            try {
                return write((Message) filled(type), version);
            } catch (UnsupportedVersionException tooMuch) {
                return write((Message) type.getConstructor().newInstance(), version);
            }
        } catch (ReflectiveOperationException defect) {
            throw new IllegalStateException(className, defect);
        }
    }

    /** The bytes of a message. */
    public static byte[] write(Message message, short version) {
        MessageWriter out = new MessageWriter(UnpooledByteBufAllocator.DEFAULT);
        message.write(out, version);
        List<ReferenceCounted> parts = out.finish();
        ByteBuf all = Unpooled.wrappedBuffer(parts.stream()
                .map(part -> part instanceof ByteBuf bytes ? bytes : Unpooled.EMPTY_BUFFER)
                .toArray(ByteBuf[]::new));
        byte[] bytes = ByteBufUtil.getBytes(all);
        all.release();
        return bytes;
    }

    /** The body of a request. */
    public static byte[] write(ApiMessage message, int version) {
        return write((Message) message, (short) version);
    }

    private static Object filled(Class<?> type) throws ReflectiveOperationException {
        Object message = type.getConstructor().newInstance();
        List<Method> setters = Stream.of(type.getMethods())
                .filter(method -> method.getName().startsWith("set") && method.getParameterCount() == 1)
                .sorted(Comparator.comparing(Method::getName))
                .toList();
        for (Method setter : setters) {
            Object value = value(setter.getGenericParameterTypes()[0]);
            if (value != null) {
                setter.invoke(message, value);
            }
        }
        return message;
    }

    /** Null for numbers, which stay as they are. */
    private static Object value(Type type) throws ReflectiveOperationException {
        if (type instanceof ParameterizedType list) {
            Object element = value(list.getActualTypeArguments()[0]);
            return element == null ? null : List.of(element);
        }
        if (type == String.class) {
            return NAME;
        }
        if (type == Integer.class) {
            return 0;
        }
        if (type == Byte.class) {
            return (byte) 0;
        }
        if (type == Short.class) {
            return (short) 0;
        }
        if (type == Long.class) {
            return 0L;
        }
        if (type == Uuid.class) {
            return new Uuid(1, 2);
        }
        if (type == ByteBuf.class) {
            return Unpooled.wrappedBuffer(new byte[] {0, 1, 0, 0, 0, 1, 0, 1, 't', -1, -1, -1, -1});
        }
        if (type == RecordsData.class) {
            return RecordsData.of(SampleBatches.plain(2));
        }
        Class<?> raw = (Class<?>) type;
        return raw.isPrimitive() || raw.isArray() ? null : filled(raw);
    }
}
