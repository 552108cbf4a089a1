package io.idempotency.autoconfigure;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Chooses the store if the application declares none. The first configuration that
 * matches wins, and the last one always matches. The configurations are imported and not
 * nested, because nested ones have no reliable order.
 */
@Configuration(proxyBeanMethods = false)
@Import({ RefusedStoreConfigurations.Ambiguous.class, RedisStoreConfiguration.class, JdbcStoreConfiguration.class,
		RefusedStoreConfigurations.WithoutR2dbcModule.class, MemoryStoreConfiguration.class,
		RefusedStoreConfigurations.Absent.class })
class StoreConfigurations {

}
