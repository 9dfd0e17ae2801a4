package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.api.Handler.ServedApi;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Runs a test in the lowest and in the highest version of an API that the broker serves. The test takes the version.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ParameterizedTest(name = "version {0}")
@ArgumentsSource(ServedVersions.LowestAndHighest.class)
public @interface ServedVersions {
    ApiKey value();

    /** Reads the versions from the broker's registry of handlers. */
    final class LowestAndHighest implements ArgumentsProvider, AnnotationConsumer<ServedVersions> {
        private ApiKey key;

        @Override
        public void accept(ServedVersions annotation) {
            key = annotation.value();
        }

        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            ServedApi api = SharedBroker.of(context).handlers().find(key.id()).api();
            return IntStream.of(api.lowestVersion(), api.highestVersion())
                    .distinct()
                    .mapToObj(Arguments::of);
        }
    }
}
