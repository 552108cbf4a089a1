package io.idempotency.samples.shop.messages;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The configuration that both brokers share.
 */
@Configuration(proxyBeanMethods = false)
@Profile("kafka | rabbit")
@EnableScheduling
@Import({ Outbox.class, Warehouse.class })
class MessageConfiguration {

}
