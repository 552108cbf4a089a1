package io.idempotency.autoconfigure;

import io.idempotency.autoconfigure.OnStoreTypeCondition.ConditionalOnStoreType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.unit.DataSize;

/**
 * Declares the in-memory store, if the application selects it or has no connection for
 * another store.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType({ StoreType.AUTO, StoreType.MEMORY })
class MemoryStoreConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(MemoryStoreConfiguration.class);

	@Bean
	MemoryIdempotencyStore idempotencyStore(IdempotencyProperties properties) {
		if (properties.store() == StoreType.AUTO) {
			logger.warn("[IDEM-502] Idempotency records are stored in memory, for one JVM only: they are lost when "
					+ "it stops, and other nodes do not see them. Configure Redis or a database. If memory is "
					+ "intended, set idempotency.store=memory.");
		}
		return store(properties.memory().maxSize());
	}

	static MemoryIdempotencyStore store(DataSize maxSize) {
		long heap = Runtime.getRuntime().maxMemory();
		if (maxSize.toBytes() > heap) {
			logger.warn("[IDEM-503] idempotency.memory.max-size is {} MB, but the maximum heap of this JVM is {} "
					+ "MB: the JVM can run out of memory before the store is full. Increase the heap (-Xmx) or "
					+ "reduce max-size.", maxSize.toMegabytes(), DataSize.ofBytes(heap).toMegabytes());
		}
		try {
			return new MemoryIdempotencyStore(maxSize.toBytes());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException("idempotency.memory.max-size", maxSize,
					"It must be large enough for one record, such as 64MB.");
		}
	}

}
