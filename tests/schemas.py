# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas that what is printed is held against."""


def strict(schema):
    """The same schema, but a member that it does not name is a fault: the page must not lag behind."""
    if isinstance(schema, dict):
        made = {key: strict(value) for key, value in schema.items()}
        if "properties" in made and made.get("type") == "object":
            made["additionalProperties"] = False
        return made
    return [strict(value) for value in schema] if isinstance(schema, list) else schema
