package io.journalq.smoke.spring;

import java.util.Map;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.util.backoff.FixedBackOff;

/** What Spring puts together: topics, templates, and containers for listeners. */
@Configuration(proxyBeanMethods = false)
@EnableKafka
@EnableKafkaRetryTopic
class Setup {
    private static final int PARTITIONS = 2;
    private static final long BACK_OFF_MS = 50;

    private static String bootstrap() {
        return System.getenv("JOURNALQ_BOOTSTRAP");
    }

    @Bean
    static PropertySourcesPlaceholderConfigurer placeholders() {
        return new PropertySourcesPlaceholderConfigurer();
    }

    @Bean
    TaskScheduler scheduler() {
        return new ThreadPoolTaskScheduler();
    }

    @Bean
    KafkaAdmin admin() {
        KafkaAdmin admin = new KafkaAdmin(Map.of("bootstrap.servers", bootstrap()));
        admin.setFatalIfBrokerNotAvailable(true);
        return admin;
    }

    @Bean
    KafkaAdmin.NewTopics topics(@Value("${smoke.run}") String run) {
        return new KafkaAdmin.NewTopics(
                topic("orders-" + run), topic("orders-" + run + "-dlt"), topic("payments-" + run), topic("transfers-" + run));
    }

    private static NewTopic topic(String name) {
        return TopicBuilder.name(name).partitions(PARTITIONS).build();
    }

    private static DefaultKafkaProducerFactory<String, String> producers() {
        return new DefaultKafkaProducerFactory<>(
                Map.of("bootstrap.servers", bootstrap()), new StringSerializer(), new StringSerializer());
    }

    @Bean
    KafkaTemplate<String, String> template() {
        return new KafkaTemplate<>(producers());
    }

    @Bean
    KafkaTemplate<String, String> transactional(@Value("${smoke.run}") String run) {
        DefaultKafkaProducerFactory<String, String> producers = producers();
        producers.setTransactionIdPrefix("transfers-" + run + "-");
        return new KafkaTemplate<>(producers);
    }

    @Bean
    ConsumerFactory<String, String> consumers() {
        return new DefaultKafkaConsumerFactory<>(
                Map.of("bootstrap.servers", bootstrap(), "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer());
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> plain(ConsumerFactory<String, String> consumers) {
        ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        return factory;
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> retrying(ConsumerFactory<String, String> consumers) {
        ConcurrentKafkaListenerContainerFactory<String, String> factory = plain(consumers);
        factory.setConcurrency(PARTITIONS);
        factory.setCommonErrorHandler(new DefaultErrorHandler(
                new DeadLetterPublishingRecoverer(template()), new FixedBackOff(BACK_OFF_MS, Listeners.ATTEMPTS - 1)));
        return factory;
    }

    @Bean
    Listeners listeners() {
        return new Listeners();
    }
}
