package io.journalq.embedded.junit;

import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.EmbeddedBrokerBuilder;
import io.journalq.embedded.JournalQ;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Injects an {@link EmbeddedBroker} into constructors and methods of a test class. The class and its nested classes
 * share one broker. It is started when it is first needed, and closed after the last test. With {@code
 *
 * @ExtendWith(JournalQExtension.class)}, the broker keeps its data in memory. To change its settings, use {@code
 * @RegisterExtension static final} with {@link #of}. Requires JUnit 5.13 or later.
 */
public final class JournalQExtension implements ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(JournalQExtension.class);

    private final EmbeddedBrokerBuilder builder;

    /** Creates an extension with a broker in memory. */
    public JournalQExtension() {
        this(JournalQ.embedded().inMemory());
    }

    private JournalQExtension(EmbeddedBrokerBuilder builder) {
        this.builder = builder;
    }

    /** Creates an extension with a broker that {@code builder} starts. */
    public static JournalQExtension of(EmbeddedBrokerBuilder builder) {
        return new JournalQExtension(builder);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == EmbeddedBroker.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        // JUnit closes the values of a store when the class that owns it is complete.
        return outermostClass(context)
                .getStore(NAMESPACE)
                .getOrComputeIfAbsent(EmbeddedBroker.class, key -> builder.start(), EmbeddedBroker.class);
    }

    private static ExtensionContext outermostClass(ExtensionContext context) {
        ExtensionContext outermost = context;
        while (outermost
                .getParent()
                .filter(parent -> parent != context.getRoot())
                .isPresent()) {
            outermost = outermost.getParent().orElseThrow();
        }
        return outermost;
    }
}
