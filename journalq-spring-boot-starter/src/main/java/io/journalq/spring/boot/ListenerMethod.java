package io.journalq.spring.boot;

import io.journalq.client.ConsumerRecord;
import io.journalq.client.TypedRecord;
import io.journalq.client.serialization.Serde;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.springframework.core.ResolvableType;

/** A method with {@link JournalQListener}, and how to make its argument from a record. Immutable. */
final class ListenerMethod {
    private final Object bean;
    private final Method method;
    private final Class<?> parameter;
    private final Serde<Object> keys;
    private final Serde<Object> values;

    /**
     * Creates it.
     *
     * @param method a method of the bean's class
     * @throws IllegalArgumentException if the method does not have one parameter, or if a serde does not fit it
     */
    ListenerMethod(
            Object bean,
            Method method,
            JournalQListener annotation,
            JournalQProperties properties,
            NamedSerdes serdes) {
        if (method.getParameterCount() != 1) {
            throw new IllegalArgumentException(method + " has " + method.getParameterCount()
                    + " parameters; a listener has one: a TypedRecord, a" + " ConsumerRecord or the value");
        }
        this.bean = bean;
        this.method = method;
        method.setAccessible(true);
        ResolvableType type = ResolvableType.forMethodParameter(method, 0, bean.getClass());
        this.parameter = type.resolve(Object.class);
        boolean typed = parameter == TypedRecord.class;
        if (parameter == ConsumerRecord.class) {
            this.keys = null;
            this.values = null;
            return;
        }
        String of = " of the listener " + name();
        this.keys = typed
                ? serdes.find(
                        "key-serde" + of, chosen(annotation.keySerde(), properties.keySerde()), type.getGeneric(0))
                : null;
        this.values = serdes.find(
                "value-serde" + of,
                chosen(annotation.valueSerde(), properties.valueSerde()),
                typed ? type.getGeneric(1) : type);
    }

    private static String chosen(String own, String common) {
        return own.isEmpty() ? common : own;
    }

    String name() {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    /**
     * Calls the method.
     *
     * @throws io.journalq.client.error.SerializationException if the record cannot be deserialized
     * @throws Exception what the method throws
     */
    void call(ConsumerRecord record) throws Exception {
        Object argument = record;
        if (values != null) {
            TypedRecord<Object, Object> decoded = record.decode(keys == null ? (topic, data) -> null : keys, values);
            argument = parameter == TypedRecord.class ? decoded : decoded.value();
        }
        try {
            method.invoke(bean, argument);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception failure) {
                throw failure;
            }
            throw e;
        }
    }
}
