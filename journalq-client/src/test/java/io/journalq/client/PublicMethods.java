package io.journalq.client;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The public instance methods of a class of the API, found by reflection so that a new one is tested without a list. */
final class PublicMethods {
    private PublicMethods() {}

    /** Returns the methods that a class declares or inherits from the API, sorted; not those of {@link Object}. */
    static List<Method> of(Class<?> type) {
        return Stream.of(type.getMethods())
                .filter(method -> method.getDeclaringClass() != Object.class)
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .filter(method -> !method.isBridge() && !method.isSynthetic())
                .sorted(Comparator.comparing(Method::getName).thenComparing(Method::toString))
                .toList();
    }

    /** Returns a short name such as {@code poll(Duration)}. */
    static String nameOf(Method method) {
        List<String> types = Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .toList();
        return method.getName() + "(" + String.join(", ", types) + ")";
    }
}
