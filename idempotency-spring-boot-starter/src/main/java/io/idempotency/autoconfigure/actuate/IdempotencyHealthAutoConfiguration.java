package io.idempotency.autoconfigure.actuate;

import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the health of the stores, in
 * applications that have Spring Boot's health endpoint, of either line.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "management.health.idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean({ IdempotencyStore.class, Scheduler.class, Namespace.class })
@Import({ Boot3HealthConfiguration.class, Boot4HealthConfiguration.class })
public final class IdempotencyHealthAutoConfiguration {

	IdempotencyHealthAutoConfiguration() {
	}

}
