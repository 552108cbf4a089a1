package io.idempotency.autoconfigure;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The store to use where the application declares none. Imported and not nested, because
 * the order of nested configurations cannot be relied on: the first that applies wins,
 * and the last one always does.
 */
@Configuration(proxyBeanMethods = false)
@Import({ AmbiguousStoreConfiguration.class, RedisStoreConfiguration.class, JdbcStoreConfiguration.class,
		MemoryStoreConfiguration.class, AbsentStoreConfiguration.class })
class StoreConfigurations {

}
