package io.idempotency.autoconfigure;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for slices of an application such as
 * {@code @WebMvcTest}: they have no connection to a database or to Redis, so records are
 * kept in memory with any value of {@code idempotency.store}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(beforeName = "io.idempotency.autoconfigure.IdempotencyAutoConfiguration")
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnMissingBean(IdempotencyStore.class)
public final class SliceStoreAutoConfiguration {

	SliceStoreAutoConfiguration() {
	}

	@Bean
	MemoryIdempotencyStore idempotencyStore(IdempotencyProperties properties) {
		return MemoryStoreConfiguration.store(properties.memory().maxSize());
	}

}
