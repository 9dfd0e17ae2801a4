package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.broker.TestBroker;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Every handler has its own test, which has the name of the handler. */
@ExtendWith(SharedBroker.class)
class HandlerTestsTest {
    @Test
    void shouldFindATestOfEveryHandlerByItsName(TestBroker broker) {
        List<String> problems = new ArrayList<>();
        for (HandlerRegistry.Served served : broker.handlers().all()) {
            String problem = problem(served.handler().getClass(), served.api().key());
            if (problem != null) {
                problems.add(problem);
            }
        }

        assertThat(broker.handlers().all()).isNotEmpty();
        assertThat(problems).isEmpty();
    }

    @Test
    void shouldSayWhatIsMissingWhenAHandlerHasNoTest() {
        assertThat(problem(HandlerTestsTest.class, ApiKey.FETCH)).contains("HandlerTestsTestTest", "FETCH");
    }

    private static String problem(Class<?> handler, ApiKey key) {
        String name = handler.getName() + "Test";
        Class<?> test;
        try {
            test = Class.forName(name);
        } catch (ClassNotFoundException missing) {
            return name + " is missing: a wire-level test with @ServedVersions(ApiKey." + key + ") and an error case";
        }
        Method[] methods = test.getDeclaredMethods();
        boolean hasVersions = Arrays.stream(methods)
                .map(method -> method.getAnnotation(ServedVersions.class))
                .anyMatch(versions -> versions != null && versions.value() == key);
        boolean hasError = Arrays.stream(methods).anyMatch(method -> method.isAnnotationPresent(Test.class));
        return hasVersions && hasError && HandlerTestBase.class.isAssignableFrom(test)
                ? null
                : name + " needs a test with @ServedVersions(ApiKey." + key + "), an error case with @Test, and"
                        + " HandlerTestBase";
    }
}
