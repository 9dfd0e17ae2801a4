package io.journalq.spring.boot;

import io.journalq.client.Admin;
import io.journalq.client.ConsumerInterceptor;
import io.journalq.client.Producer;
import io.journalq.client.ProducerInterceptor;
import io.journalq.client.micrometer.JournalQClientMetrics;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

/**
 * The beans of the starter. A producer, an admin or a factory that the application defines replaces the one here. If
 * the application defines several producers and none is primary, there is no template, and there are no meters of
 * producers.
 * Interceptors that are beans are added to the producer and to the consumers.
 */
@AutoConfiguration
@EnableConfigurationProperties(JournalQProperties.class)
public final class JournalQAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Producer journalqProducer(
            JournalQProperties properties, Environment environment, ObjectProvider<ProducerInterceptor> interceptors) {
        Producer.Builder builder = properties.applyTo(Producer.builder(), clientId(properties, environment));
        properties.applyTo(builder);
        interceptors.orderedStream().forEach(builder::interceptor);
        return builder.build();
    }

    @Bean
    @ConditionalOnMissingBean
    Admin journalqAdmin(JournalQProperties properties, Environment environment) {
        return properties
                .applyTo(Admin.builder(), clientId(properties, environment) + "-admin")
                .build();
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSingleCandidate(Producer.class)
    JournalQTemplate journalqTemplate(JournalQProperties properties, Producer producer, BeanFactory beans) {
        NamedSerdes serdes = new NamedSerdes(beans);
        ResolvableType any = ResolvableType.forClass(Object.class);
        return new JournalQTemplate(
                producer,
                serdes.find("journalq.key-serde", properties.keySerde(), any),
                serdes.find("journalq.value-serde", properties.valueSerde(), any));
    }

    @Bean
    @ConditionalOnMissingBean
    ConsumerFactory journalqConsumerFactory(
            JournalQProperties properties, Environment environment, ObjectProvider<ConsumerInterceptor> interceptors) {
        return new ConsumerFactory(
                properties,
                clientId(properties, environment),
                interceptors.orderedStream().toList());
    }

    /** Static, so that it exists before the beans that it looks at. */
    @Bean
    static JournalQListeners journalqListeners(ConfigurableBeanFactory beans) {
        return new JournalQListeners(beans);
    }

    private static String clientId(JournalQProperties properties, Environment environment) {
        return properties.clientId() != null
                ? properties.clientId()
                : environment.getProperty("spring.application.name", "journalq");
    }

    /** The health of the cluster. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthIndicator.class)
    @ConditionalOnEnabledHealthIndicator("journalq")
    static final class HealthConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "journalqHealthIndicator")
        HealthIndicator journalqHealthIndicator(JournalQProperties properties, Environment environment) {
            return new JournalQHealthIndicator(properties, clientId(properties, environment) + "-health");
        }
    }

    /** The meters of the producer and of the consumers of listeners. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterBinder.class)
    static final class MetricsConfiguration {

        @Bean
        MeterBinder journalqProducerMeters(
                ObjectProvider<Producer> producers, JournalQProperties properties, Environment environment) {
            Producer producer = producers.getIfUnique();
            if (producer == null) {
                // Several producers need different tags, which only the application knows.
                return registry -> {};
            }
            return JournalQClientMetrics.of(producer, Tags.of("client", clientId(properties, environment)));
        }

        @Bean
        ListenerMeters journalqListenerMeters() {
            return new ListenerMeters();
        }
    }
}
