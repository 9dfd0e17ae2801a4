package io.journalq.conformance;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.test.ClusterInstance;
import org.apache.kafka.common.test.api.AutoStart;
import org.apache.kafka.common.test.api.ClusterConfig;
import org.apache.kafka.common.test.api.ClusterConfigProperty;
import org.apache.kafka.common.test.api.ClusterFeature;
import org.apache.kafka.common.test.api.ClusterTemplate;
import org.apache.kafka.common.test.api.ClusterTest;
import org.apache.kafka.common.test.api.ClusterTestDefaults;
import org.apache.kafka.common.test.api.ClusterTests;
import org.apache.kafka.server.common.Feature;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.platform.commons.support.ReflectionSupport;
import org.opentest4j.TestAbortedException;

/**
 * Gives every test that declares a cluster JournalQ brokers of its own, started from the declared configuration. Tests
 * listed in {@code out-of-scope.txt} are aborted with the reason that stands there.
 */
public final class JournalQClusterExtension implements TestTemplateInvocationContextProvider {
    private static final OutOfScope OUT_OF_SCOPE = OutOfScope.read();
    /** The server id of settings that are not those of one server. */
    private static final int OF_ALL_SERVERS = -1;

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return !configs(context).isEmpty();
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        return configs(context).stream().map(Invocation::new);
    }

    private static List<ClusterConfig> configs(ExtensionContext context) {
        Method method = context.getRequiredTestMethod();
        Optional<ClusterTestDefaults> defaults =
                Optional.ofNullable(context.getRequiredTestClass().getAnnotation(ClusterTestDefaults.class));
        List<ClusterConfig> configs = new ArrayList<>();
        for (ClusterTest single : method.getAnnotationsByType(ClusterTest.class)) {
            configs.add(config(single, defaults));
        }
        ClusterTests several = method.getAnnotation(ClusterTests.class);
        if (several != null && configs.isEmpty()) {
            for (ClusterTest each : several.value()) {
                configs.add(config(each, defaults));
            }
        }
        ClusterTemplate template = method.getAnnotation(ClusterTemplate.class);
        if (template != null) {
            configs.addAll(generated(context, template.value()));
        }
        return configs;
    }

    @SuppressWarnings("unchecked")
    private static List<ClusterConfig> generated(ExtensionContext context, String methodName) {
        Method generator = ReflectionSupport.findMethod(context.getRequiredTestClass(), methodName)
                .orElseThrow(() -> new IllegalStateException("no method " + methodName));
        return (List<ClusterConfig>) ReflectionSupport.invokeMethod(generator, null);
    }

    private static ClusterConfig config(ClusterTest test, Optional<ClusterTestDefaults> defaults) {
        Map<String, String> properties = new LinkedHashMap<>();
        Map<Integer, Map<String, String>> ofServers = new LinkedHashMap<>();
        defaults.ifPresent(shared -> collect(shared.serverProperties(), properties, ofServers));
        collect(test.serverProperties(), properties, ofServers);
        int brokers = test.brokers() > 0
                ? test.brokers()
                : defaults.map(ClusterTestDefaults::brokers).filter(n -> n > 0).orElse(1);
        boolean autoStart = test.autoStart() == AutoStart.DEFAULT
                ? defaults.map(ClusterTestDefaults::autoStart).orElse(true)
                : test.autoStart() == AutoStart.YES;
        return ClusterConfig.defaultBuilder()
                .setBrokers(brokers)
                .setAutoStart(autoStart)
                .setServerProperties(properties)
                .setPerServerProperties(ofServers)
                .setFeatures(features(test))
                .setBrokerSecurityProtocol(test.brokerSecurityProtocol())
                .setBrokerListenerName(ListenerName.normalised(test.brokerListener()))
                .build();
    }

    private static Map<Feature, Short> features(ClusterTest test) {
        Map<Feature, Short> levels = new LinkedHashMap<>();
        for (ClusterFeature declared : test.features()) {
            levels.put(declared.feature(), declared.version());
        }
        return levels;
    }

    private static void collect(
            ClusterConfigProperty[] declared,
            Map<String, String> properties,
            Map<Integer, Map<String, String>> ofServers) {
        for (ClusterConfigProperty property : declared) {
            Map<String, String> target = property.id() == OF_ALL_SERVERS
                    ? properties
                    : ofServers.computeIfAbsent(property.id(), server -> new LinkedHashMap<>());
            target.put(property.key(), property.value());
        }
    }

    /** One run of a test with one cluster. */
    private static final class Invocation implements TestTemplateInvocationContext {
        private final JournalQCluster cluster;

        Invocation(ClusterConfig config) {
            this.cluster = new JournalQCluster(config);
        }

        @Override
        public String getDisplayName(int index) {
            return "[" + index + "] " + cluster;
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            BeforeEachCallback begin = context -> begin(context);
            AfterTestExecutionCallback end = context -> cluster.close();
            return List.of(begin, end, new ClusterParameter(cluster));
        }

        private void begin(ExtensionContext context) {
            Method test = context.getRequiredTestMethod();
            OUT_OF_SCOPE.reason(context.getRequiredTestClass(), test).ifPresent(reason -> {
                throw new TestAbortedException(reason);
            });
            if (cluster.config().isAutoStart()) {
                cluster.start();
            }
        }
    }

    /** Hands the cluster to the test's constructor and method. */
    private record ClusterParameter(JournalQCluster cluster) implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == ClusterInstance.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return cluster;
        }
    }
}
