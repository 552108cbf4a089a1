package io.idempotency.autoconfigure;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Administration of records.
 *
 * @param writeOperations Whether the actuator endpoint "idempotency" can also evict and
 * erase records, which lets their calls run again. Restrict who may reach the endpoint
 * before you set it to true.
 */
public record AdminProperties(@DefaultValue("false") boolean writeOperations) {
}
