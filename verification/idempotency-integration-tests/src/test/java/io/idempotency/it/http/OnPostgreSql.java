package io.idempotency.it.http;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import javax.sql.DataSource;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.ContextConfiguration;

/**
 * The same scenarios, records in a real PostgreSQL. All classes share an application and
 * its database.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Requires(Backend.POSTGRESQL)
@ContextConfiguration(initializers = OnPostgreSql.Database.class)
@interface OnPostgreSql {

	/** Gives the application a database of its own. */
	final class Database implements ApplicationContextInitializer<ConfigurableApplicationContext> {

		@Override
		public void initialize(ConfigurableApplicationContext context) {
			DataSource pool = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase().pool(10);
			((GenericApplicationContext) context).registerBean("dataSource", DataSource.class, () -> pool);
			TestPropertyValues.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always")
				.applyTo(context);
		}

	}

}
