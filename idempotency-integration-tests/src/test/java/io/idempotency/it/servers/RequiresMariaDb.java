package io.idempotency.it.servers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/**
 * Tests against a real MariaDB: they run, or fail where it does not come up. Only
 * {@code -Didempotency.tests.skip=mariadb} leaves them out.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Tag("mariadb")
@DisabledIfSystemProperty(named = "idempotency.tests.skip", matches = "(.*,)?mariadb(,.*)?",
		disabledReason = "-Didempotency.tests.skip names mariadb")
public @interface RequiresMariaDb {

}
