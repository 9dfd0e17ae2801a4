package io.journalq.spring.boot;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.client.jackson.JsonSerde;
import io.journalq.client.serialization.Serde;
import io.journalq.client.serialization.Serdes;
import java.lang.reflect.Type;
import java.util.List;
import java.util.UUID;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/** Finds the serde for the value of a property: a name of our own, or the name of a bean. Immutable. */
final class NamedSerdes {
    private static final List<Named> NAMED = List.of(
            new Named("bytes", byte[].class, Serdes.bytes()),
            new Named("utf8", String.class, Serdes.utf8()),
            new Named("long", Long.class, Serdes.longs()),
            new Named("uuid", UUID.class, Serdes.uuids()));

    private final BeanFactory beans;

    NamedSerdes(BeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns a serde.
     *
     * @param property the property that contains the name, for messages
     * @param type the type of the objects; {@code Object} if it is not known
     * @throws IllegalArgumentException if there is no such serde, or if it has objects of another type
     */
    @SuppressWarnings("unchecked")
    Serde<Object> find(String property, String name, ResolvableType type) {
        for (Named named : NAMED) {
            if (named.name.equals(name)) {
                if (!ClassUtils.isAssignable(type.resolve(Object.class), named.type)) {
                    throw new IllegalArgumentException(
                            "%s is %s, which is for %s and not for %s; use json, or the name of a bean"
                                    .formatted(property, name, named.type.getSimpleName(), type));
                }
                return (Serde<Object>) named.serde;
            }
        }
        if (name.equals("json")) {
            if (!ClassUtils.isPresent(
                    "com.fasterxml.jackson.databind.ObjectMapper", getClass().getClassLoader())) {
                throw new IllegalArgumentException(property
                        + " is json, which needs com.fasterxml.jackson.core:jackson-databind on the class path");
            }
            return Json.serde(beans, type.getType());
        }
        if (beans.containsBean(name)) {
            return (Serde<Object>) beans.getBean(name, Serde.class);
        }
        throw new IllegalArgumentException(property + " is " + name
                + "; use bytes, utf8, long, uuid, json, or the name of a bean of type " + Serde.class.getName());
    }

    private record Named(String name, Class<?> type, Serde<?> serde) {}

    /** A class of its own, because Jackson is optional. */
    private static final class Json {
        private static Serde<Object> serde(BeanFactory beans, Type type) {
            ObjectMapper mapper = beans.getBeanProvider(ObjectMapper.class).getIfAvailable(ObjectMapper::new);
            return JsonSerde.of(mapper, new TypeReference<Object>() {
                @Override
                public Type getType() {
                    return type;
                }
            });
        }
    }
}
